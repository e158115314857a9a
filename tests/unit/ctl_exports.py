# SPDX-License-Identifier: GPL-2.0
# Used by ctl_exports.sh and ctl_scrape.sh: makes snapshots, and compares what tools read in exports of them with
# what is in the snapshots. Ends with an error if they differ.
import collections
import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request

CLASSES = ('anon', 'file', 'shmem')


def write(path, procs):
    """A snapshot of processes: (pid, comm, cgroup or None, [(tag, anon, file, shmem, swap, peak), …]).

    A tag that another one is below, and that is not among them, has a line of zeros."""
    lines = 0
    with open(path, 'w', encoding='utf-8') as out:
        def line(value):
            print(json.dumps(value, ensure_ascii=False), file=out)
        line({'mtag_snapshot': 1, 'time_ms': 1700000000123})
        for pid, comm, cgroup, tags in procs:
            known = {tag: bytes_of for tag, *bytes_of in tags}
            ids = {}
            for tag in [tag[:n] for tag in known for n in range(len(tag) + 1) if tag[n:n + 1] in ('', '/')]:
                if tag in ids:
                    continue
                ids[tag] = len(ids) + 1 + ('' not in known) if tag else 0
                bytes_of = known.get(tag, (0,) * 5)
                keys = [name + '_bytes' for name in ('anon', 'file', 'shmem', 'swap', 'peak_rss')]
                entry = {'pid': pid, 'comm': comm, 'id': ids[tag], 'tag': tag,
                         'parent_id': ids[tag.rpartition('/')[0]] if '/' in tag else 0,
                         'rss_bytes': sum(bytes_of[:3]), **dict(zip(keys, bytes_of)),
                         'lost': pid, 'overflow': 2 * pid, 'repairs': 3 * pid}
                if cgroup is not None:
                    entry['cgroup'] = cgroup
                line(entry)
                lines += 1
        line({'end': lines})


def make_odd(path):
    """Names with all that has a meaning in some format, the same in several processes, and none."""
    odd = ['quo"te', 'back\\slash', 'semi;colon', '{brace="x"}', 'ü/日本', 'a/b/c', 'a/b', 'percent%n', 'hash # x',
           ' ']
    tags = [('', 1 << 20, 2 << 20, 4096, 0, 4 << 20)]
    tags += [(name, 4096 * (i + 1), 8192 * i, 4096 * (i % 3), 12288 * i, 1 << 25) for i, name in enumerate(odd)]
    write(path, [
        (10, 'db', '/system.slice/a "b"\\x2d.service', tags),
        (11, 'db', '/system.slice/a "b"\\x2d.service', [(t, *(2 * v for v in b)) for t, *b in tags[:5]]),
        (12, 'db', None, [('', 4096, 0, 0, 0, 4096), ('[other]', 8192, 0, 0, 0, 8192)]),
        (13, 'new\nline "q" \\', '/', [('', 4096, 4096, 0, 0, 8192)]),
        (14, '\x1b[2J', '/', [('', 4096, 0, 0, 0, 4096)]),
        (15, '\x07[2J', '/', [('', 8192, 0, 0, 0, 8192), ('gone', 0, 0, 0, 0, 4096)]),
    ])


def make_many(path, n):
    write(path, [(1, 'big', '/x', [('t/%d' % i if i else '', i * 4096, 0, 0, 0, i * 4096) for i in range(n)])])


def make_wide(path):
    """Processes with one tag more than are kept, and a group that has a tag named like the rest."""
    def tags(n, scale):
        return [('t%d' % i if i else '', i * 4096 * scale, 4096, 0, i * 8192, i * 4096) for i in range(n)]
    write(path, [
        (20, 'full', '/a', tags(200, 1)),
        (21, 'over', '/a', tags(201, 1)),
        (22, 'over', '/b', tags(150, 1)),
        (23, 'over', '/b', [('u%d' % i, 1 << 40, 0, 0, 0, 0) for i in range(150)]),
        (24, 'named', '/a', tags(200, 1) + [('[other]', 1 << 40, 0, 0, 0, 1 << 40)]),
        (25, 'both', '/a', tags(300, 1) + [('[other]', 1 << 40, 0, 0, 0, 1 << 40)]),
    ])


def shown(ctl, path):
    """What `show -j` has of the snapshot, and the cgroup of each process."""
    rows = json.loads(subprocess.run([ctl, 'show', '-j', '--from', path], check=True, capture_output=True).stdout)
    cgroups = {}
    with open(path, encoding='utf-8') as lines:
        for line in map(json.loads, lines):
            if 'pid' in line:
                cgroups[line['pid']] = line.get('cgroup', '')
    for row in rows:
        row['cgroup'] = cgroups[row['pid']]
    return rows


def cleaned(name):
    """As mtagctl's text has it: what is unprintable in \\xNN."""
    return ''.join('\\\\' if c == '\\' else c if c.isprintable() else ''.join('\\x%02x' % b for b in c.encode())
                   for c in name)


def stack_of(row):
    return tuple(part for part in cleaned(row['tag'] or '[untagged]').split('/') if part)


def same(got, want):
    if got == want:
        return
    wrong = [key for key in sorted(set(got) | set(want), key=str) if got.get(key) != want.get(key)]
    for key in wrong[:10]:
        print('%s: %s, not %s' % (key, got.get(key), want.get(key)))
    print('%d of %d differ' % (len(wrong), len(want)))
    sys.exit(1)


def pprof(ctl, path, raw_path):
    """raw_path: what `go tool pprof -raw` printed."""
    with open(raw_path, encoding='utf-8') as file:
        text = file.read()
    samples, locations = text.split('\nSamples:\n')[1].split('\nLocations\n')
    names = dict(re.findall(r'^ +(\d+): 0x0 M=1 (.*) :0 s=0\(\)$', locations, re.M))
    assert samples.startswith('pages/count rss/bytes[dflt] swap/bytes\n'), samples[:80]
    got = {}
    for pages, rss, swap, stack, comm, tag, pid in re.findall(
            r'^ +(\d+) +(\d+) +(\d+): ([\d ]+)\n +(?:comm:\[(.*?)\] )?tag:\[(.*)\]\n +pid:\[(\d+)\]$', samples, re.M):
        assert int(pages) == int(rss) // 4096
        key = int(pid), comm, tag, tuple(names[number] for number in reversed(stack.split()))
        assert key not in got
        got[key] = int(rss), int(swap)
    assert len(got) == sum(line.lstrip()[0].isdigit() for line in samples.splitlines()[1:])
    same(got, {(row['pid'], cleaned(row['comm']), cleaned(row['tag'] or '[untagged]'), stack_of(row)): (row['rss_bytes'], row['swap_bytes'])
               for row in shown(ctl, path) if row['rss_bytes'] or row['swap_bytes']})


def speedscope(ctl, path, file_path, schema_path):
    import jsonschema
    with open(file_path, encoding='utf-8') as file, open(schema_path, encoding='utf-8') as schema:
        data, rules = json.load(file), json.load(schema)
    jsonschema.Draft7Validator.check_schema(rules)
    validator = jsonschema.Draft7Validator(rules)
    validator.validate(data)
    # It is a schema that refuses something.
    assert not validator.is_valid({**data, 'profiles': [{**data['profiles'][0], 'unit': 'byte'}]})
    got = {}
    for profile in data['profiles']:
        assert len(profile['samples']) == len(profile['weights'])
        assert (profile['startValue'], profile['endValue']) == (0, sum(profile['weights']))
        for stack, weight in zip(profile['samples'], profile['weights']):
            key = profile['name'], tuple(data['shared']['frames'][number]['name'] for number in stack)
            assert key not in got
            got[key] = weight
    rows = shown(ctl, path)
    assert [p['name'] for p in data['profiles']] == \
        list(dict.fromkeys('%s-%d' % (row['comm'], row['pid']) for row in rows))
    same(got, {('%s-%d' % (row['comm'], row['pid']), tuple((row['tag'] or '[untagged]').split('/'))): row['rss_bytes']
               for row in rows if row['rss_bytes']})


def label(name):
    return ''.join(c if c.isprintable() or c == '\n' else '\ufffd' for c in name)


def metrics_of(ctl, path, by_pid):
    """What the metrics should be, summed here."""
    want = collections.defaultdict(int)
    processes, sizes = {}, collections.defaultdict(int)

    def key_of(row, tag=True):
        key = {'comm': label(row['comm']), 'cgroup': label(row['cgroup'])}
        if by_pid:
            key['pid'] = str(row['pid'])
        if tag:
            key['tag'] = label(row['tag']) or '[untagged]'
        return key

    def series(name, key):
        # An empty label is none.
        return name, tuple(sorted((k, v) for k, v in key.items() if v))

    rows = shown(ctl, path)
    for row in rows:
        processes[row['pid']] = row
        sizes[series('', key_of(row))] += row['rss_bytes'] + row['swap_bytes']
    groups = collections.defaultdict(list)
    for name, size in sizes.items():
        labels = dict(name[1])
        if labels['tag'] != '[other]':
            groups[tuple(v for k, v in name[1] if k != 'tag')].append((-size, labels['tag'], name))
    rest = {name for tags in groups.values() for _, _, name in sorted(tags)[200:]}
    folded = {tuple(kv for kv in name[1] if kv[0] != 'tag') for name in rest}
    for row in rows:
        key = key_of(row)
        if series('', key) in rest:
            key['tag'] = '[other]'
        for kind in CLASSES:
            want[series('mtag_rss_bytes', {**key, 'class': kind})] += row[kind + '_bytes']
        want[series('mtag_swap_bytes', key)] += row['swap_bytes']
        if key['tag'] != '[other]' or tuple(kv for kv in series('', key)[1] if kv[0] != 'tag') not in folded:
            peak = series('mtag_peak_rss_bytes', key)
            want[peak] = max(want[peak], row['peak_rss_bytes'])
    for row in processes.values():
        for name in ('lost', 'overflow', 'repairs'):
            want[series('mtag_%s_total' % name, key_of(row, False))] += row[name]
    return dict(want)


def openmetrics(ctl, path, text_path, *by_pid):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    with open(text_path, encoding='utf-8', newline='') as file:
        families = list(text_string_to_metric_families(file.read()))
    got = {}
    for family in families:
        assert (family.type, family.unit) == (('gauge', 'bytes') if family.name.endswith('_bytes') else ('unknown', ''))
        for sample in family.samples:
            key = sample.name, tuple(sorted((k, v) for k, v in sample.labels.items() if v))
            assert key not in got, key
            got[key] = int(sample.value)
    same(got, metrics_of(ctl, path, bool(by_pid)))


def totals(path, text_path):
    """The sums over the tags are those of the file, [other] included, and each group has at most 201 tags."""
    got, want, tags = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    with open(path, encoding='utf-8') as lines:
        for line in map(json.loads, lines):
            for kind in CLASSES if 'pid' in line else ():
                want[line['comm'], line['cgroup'], kind] += line[kind + '_bytes']
    with open(text_path, encoding='utf-8') as lines:
        for found in filter(None, (re.fullmatch(
                r'mtag_rss_bytes{comm="(.*)",cgroup="(.*)",tag="(.*)",class="(.*)"} (\d+)\n', line) for line in lines)):
            comm, cgroup, tag, kind, value = found.groups()
            got[comm, cgroup, kind] += int(value)
            tags[comm, cgroup].add(tag)
    same(got, want)
    same({key: (len(names), '[other]' in names) for key, names in tags.items()}, {
        ('full', '/a'): (200, False), ('over', '/a'): (201, True), ('over', '/b'): (201, True),
        ('named', '/a'): (201, True), ('both', '/a'): (201, True)})


def prometheus(ctl, path, url, time):
    """url: a server's that has scraped the metrics at that time."""
    want, got = metrics_of(ctl, path, False), {}
    for name in {name for name, _ in want}:
        query = url + '/api/v1/query?' + urllib.parse.urlencode({'query': name, 'time': time})
        with urllib.request.urlopen(query, timeout=10) as reply:
            for result in json.load(reply)['data']['result']:
                labels = {k: v for k, v in result['metric'].items() if k not in ('__name__', 'instance', 'job')}
                got[name, tuple(sorted(labels.items()))] = int(float(result['value'][1]))
    same(got, want)


if __name__ == '__main__':
    sys.stdout.reconfigure(encoding='utf-8', errors='backslashreplace')
    numbers = [int(arg) if arg.isdigit() else arg for arg in sys.argv[2:]]
    globals()[sys.argv[1]](*numbers)
