# SPDX-License-Identifier: GPL-2.0
# Used by ctl_stacks.sh: compares what tools read in exports of stacks with the JSON of the same stacks.
import collections
import json
import os
import re
import sys


def cleaned(name):
    return ''.join('\\\\' if c == '\\' else c if c.isprintable() else
                   ''.join('\\x%02x' % byte for byte in c.encode()) for c in name)


def name_of(frame):
    assert sorted(set(frame) - {'address'}) == ['build_id', 'file', 'function', 'inlined', 'line', 'module', 'offset']
    if frame['function']:
        return frame['function']
    if frame['module']:
        return '%s+0x%x' % (os.path.basename(frame['module']), frame['offset'])
    return '[unknown]'


def line_of(frame):
    """As `go tool pprof -raw` prints it."""
    return '%s %s:%d' % (cleaned(name_of(frame)), cleaned(frame['file'] or ''), frame['line'] or 0)


def stacks(path, key, text=name_of):
    """The bytes of JSON's stacks by key(row, process, tag, frames); frames by their texts, the outermost first."""
    sums = collections.Counter()
    with open(path, encoding='utf-8') as file:
        for row in json.load(file):
            # What is gone is drawn nowhere.
            if not row['anon_bytes'] + row['swap_bytes']:
                continue
            tag = None if row['tag'] is None else row['tag'] or '[untagged]'
            frames = tuple(map(text, row['stack']))
            sums[key(row, '%s-%d' % (row['comm'], row['pid']), tag, frames)] += row['anon_bytes']
    return dict(sums)


def chain(process, tag, frames):
    return (process,) + tuple(tag.split('/') if tag else ()) + frames


def same(got, want):
    if got == want:
        return
    for key in sorted(set(got) | set(want), key=str):
        if got.get(key) != want.get(key):
            print('%s: %s, not %s' % (key, got.get(key), want.get(key)))
    sys.exit(1)


def folded(path, folded_path):
    got = {}
    with open(folded_path, encoding='utf-8') as file:
        for line in file:
            stack, _, size = line.rpartition(' ')
            key = tuple(stack.split(';'))
            assert key not in got, key
            got[key] = int(size)
    same(got, stacks(path, lambda row, *of: tuple(cleaned(name).replace(';', ':') for name in chain(*of))))


def speedscope(path, file_path, schema_path):
    import jsonschema
    with open(file_path, encoding='utf-8') as file, open(schema_path, encoding='utf-8') as schema:
        data, rules = json.load(file), json.load(schema)
    jsonschema.Draft7Validator(rules).validate(data)
    got = {}
    for profile in data['profiles']:
        assert (profile['startValue'], profile['endValue']) == (0, sum(profile['weights']))
        for stack, weight in zip(profile['samples'], profile['weights'], strict=True):
            frames = [data['shared']['frames'][number] for number in stack]
            key = (profile['name'],) + tuple((f['name'], f.get('file'), f.get('line')) for f in frames)
            assert key not in got, key
            got[key] = weight
    same(got, stacks(path, lambda row, process, tag, frames: (process,) + tuple(
        (name, None, None) for name in (tag.split('/') if tag else ())) + frames,
        lambda frame: (name_of(frame), frame['file'], frame['line'])))


def pprof(path, raw_path):
    """raw_path: what `go tool pprof -raw` printed."""
    with open(raw_path, encoding='utf-8') as file:
        text = file.read()
    samples, locations = text.split('\nSamples:\n')[1].split('\nLocations\n')
    places = re.findall(r'^ +(\d+): 0x([0-9a-f]+) M=(\d+) (.*) s=0\(\)$', locations, re.M)
    lines = {number: line for number, _, _, line in places}
    files = dict(re.findall(r'^(\d+): 0x0/0xf{16}/0x0 (\S+ \S+) $', text, re.M))
    # What is stripped, and there, has an address in its file; all else has a name, or no file that could be asked.
    with open(path, encoding='utf-8') as file:
        frames = [frame for row in json.load(file) if row['anon_bytes'] for frame in row['stack'] if frame.get('address')]
    assert frames
    same({(files[mapping], int(address, 16)): line for _, address, mapping, line in places if int(address, 16)},
         {(frame['module'] + ' ' + frame['build_id'], frame['address']): line_of(frame) for frame in frames})
    got, swap = {}, 0
    for pages, rss, swapped, stack, comm, tag, pid in re.findall(
            r'^ +(\d+) +(\d+) +(\d+): ([\d ]+)\n +comm:\[(.*?)\](?: tag:\[(.*)\])?\n +pid:\[(\d+)\]$', samples, re.M):
        assert int(pages) == int(rss) // 4096
        key = ('%s-%s' % (comm, pid), tag) + tuple(lines[number] for number in reversed(stack.split()))
        assert key not in got, key
        got[key] = int(rss)
        swap += int(swapped)
    assert len(got) == sum(line.lstrip()[0].isdigit() for line in samples.splitlines()[1:])
    same(got, stacks(path, lambda row, process, tag, frames: (cleaned(process), cleaned(tag or '')) + tuple(
        cleaned(name) + ' :0' for name in (tag.split('/') if tag else ())) + frames, line_of))
    with open(path, encoding='utf-8') as file:
        assert swap == sum(row['swap_bytes'] for row in json.load(file))


if __name__ == '__main__':
    sys.stdout.reconfigure(encoding='utf-8', errors='backslashreplace')
    globals()[sys.argv[1]](*sys.argv[2:])
