# SPDX-License-Identifier: GPL-2.0
"""What mtag assumes of a kernel: whether what the assumptions rest on is the same in another."""
import configparser
import difflib
import re

from image import Trouble

# Kinds of locks and of returns, which differ by the kernel's options.
MEANS_NOTHING = re.compile(r"_raw_|rt_(spin|read|write|mutex)_|__x86_|__SCT__|__fentry__")


def read(path):
    """The table of assumptions: {name: {key: words}}."""
    parser = configparser.ConfigParser(delimiters=(":",), interpolation=None, empty_lines_in_values=False)
    parser.optionxform = str
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except configparser.Error as error:
        raise Trouble(f"{path}: {error}") from error
    table = {name: dict(parser[name]) for name in parser.sections()}
    for name, entry in table.items():
        unknown = set(entry) - {"says", "code", "rests", "uses", "users", "members", "layout"}
        if unknown or "says" not in entry or "code" not in entry:
            raise Trouble(f"{path}: [{name}] wants says and code, and knows no {', '.join(unknown) or 'more'}")
    return table


class Assumptions:
    """Compares two kernels by the table."""

    def __init__(self, old, new, rules):
        self.old, self.new, self.rules = old, new, rules
        self.both = old.source and new.source
        self.diffs = {}

    def run(self, table):
        for name, entry in table.items():
            broken = self.uses(entry) + self.members(entry) + self.layout(entry)
            rests, users = self.rests(entry), self.users(entry)
            changed = [f"Changed: {', '.join(rests)}."] * bool(rests) + users
            subject = f"assumption: {name}"
            if broken:
                self.rules.must(subject, f"{entry['says']} No longer: {' '.join(broken)} See {entry['code']}.")
            if changed:
                self.rules.look(subject, f"{entry['says']} {' '.join(changed)} See {entry['code']}.")
            if not broken and not changed:
                self.rules.found.same("assumptions")

    def uses(self, entry):
        said = []
        for line in entry.get("uses", "").splitlines() if self.both else ():
            function, word = line.split()
            if self.old.source.has(function) and self.old.source.mentions(function, word) and \
                    self.new.source.has(function) and not self.new.source.mentions(function, word):
                said.append(f"{function}() does not use {word} any more.")
        return said

    def members(self, entry):
        said = []
        for line in entry.get("members", "").splitlines():
            structure, pattern = line.split(None, 1)
            was, now = ({name: type_ for name, (_, type_) in (kernel.types.members(structure) or {}).items()
                         if re.search(pattern, name)} for kernel in (self.old, self.new))
            come, gone = sorted(set(now) - set(was)), sorted(set(was) - set(now))
            other = sorted(name for name in set(was) & set(now) if was[name] != now[name])
            said += [f"struct {structure} has a new member {name}." for name in come]
            said += [f"struct {structure} has no member {name} any more." for name in gone]
            said += [f"{name} of struct {structure} was {was[name]}, and is {now[name]}." for name in other]
        return said

    def layout(self, entry):
        said = []
        for line in entry.get("layout", "").splitlines():
            structure, *members = line.split()
            was, now = (kernel.types.members(structure) for kernel in (self.old, self.new))
            # Before there was the structure nothing was taken for granted of it.
            for member in members if was else ():
                if not now or was.get(member) != now.get(member):
                    said.append(f"{member} of struct {structure} has another place or type.")
        return said

    def rests(self, entry):
        said = []
        for function in entry.get("rests", "").split():
            known = self.both and (self.old.source.has(function) or self.new.source.has(function))
            words = self.by_source(function) if known else self.by_code(function)
            if words:
                said.append(f"{function}{'' if function.isupper() else '()'} {words}")
        return said

    def by_source(self, function):
        old, new = self.old.source, self.new.source
        if not old.has(function):
            return f"is new in {new.find(function)[0]}" if new.has(function) else ""
        if not new.has(function):
            return "is gone"
        if old.text(function) == new.text(function):
            return ""
        diff = list(difflib.unified_diff(old.text(function), new.text(function), f"{self.old.name} {function}()",
                                         f"{self.new.name} {function}()", lineterm=""))
        self.diffs[function] = "\n".join(diff)
        more, less = (sum(line.startswith(sign) and not line.startswith(sign * 3) for line in diff) for sign in "+-")
        return f"+{more} -{less} of {len(old.text(function))} lines"

    def by_code(self, function):
        """Without the source: what the function calls, and roughly its size. Inlined ones are not seen."""
        old, new = self.old.image, self.new.image
        if function not in old.sizes or function not in new.sizes:
            gone = function in old.sizes
            return "is gone, or inlined" if gone else "is new" if function in new.sizes else ""
        was, now = ({image.whole(each) for each in image.calls.get(function, ()) if not MEANS_NOTHING.match(each)}
                    for image in (old, new))
        words = [f"calls {', '.join(sorted(now - was))}"] if now - was else []
        words += [f"no longer calls {', '.join(sorted(was - now))}"] if was - now else []
        if not words and abs(new.sizes[function] - old.sizes[function]) * 10 > old.sizes[function]:
            words = [f"has {new.sizes[function]} bytes of code, and had {old.sizes[function]}"]
        return " and ".join(words)

    def users(self, entry):
        said = []
        for word in entry.get("users", "").split() if self.both else ():
            was, now = (kernel.source.users(word, ("mm", "kernel", "fs")) for kernel in (self.old, self.new))
            # Of a function that a kernel does not have, or renamed, the other words of the entry tell.
            for name in sorted(now - was) if was else ():
                said.append(f"{name}() newly uses {word}.")
        return said
