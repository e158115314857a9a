# SPDX-License-Identifier: GPL-2.0
"""Started by tests/vm/compare: reads two prepared kernels, compares them, and says it in words."""
import argparse
import os
import sys
import textwrap

import assumed
import lists as mtag
from btf import Types
from image import Image, Trouble
from rules import Rules
from source import Source

HERE = os.path.dirname(os.path.abspath(__file__))


class Kernel:
    """A kernel in the cache: its image, types, and source if there is one."""

    def __init__(self, name, directory, source):
        self.name, self.directory = name, directory
        with open(f"{directory}/release", encoding="utf-8") as file:
            self.release = file.read().strip()
        self.image = Image(f"{directory}/vmlinux")
        self.types = Types(self.image.elf)
        self.source = Source(source) if source else None

    def config(self):
        return f"{self.directory}/lib/modules/{self.release}/build/.config"


def show(title, group):
    print(f"\n{title}: {len(group) or 'nothing'}")
    for subject, text in group:
        print(textwrap.fill(f"{subject}: {text}", 116, initial_indent="  ", subsequent_indent="      ",
                            break_long_words=False, break_on_hyphens=False))


def show_all(old, new, lists, found):
    print(f"From {old.name} ({old.release}) to {new.name} ({new.release}), by {os.path.basename(lists.file)}.")
    for kernel in (old, new):
        if not kernel.source:
            print(f"The source of {kernel.name} was not looked at: what is inlined there was not compared.")
    show("Must be changed", found.must)
    show("Look at", found.look)
    same = ", ".join(f"{number} {kind}" for kind, number in found.unchanged.items())
    print(f"\nUnchanged: {same or 'nothing'}")


def arguments():
    parser = argparse.ArgumentParser()
    for each in ("name", "directory", "source"):
        parser.add_argument(f"--{each}", nargs=2, required=True)
    parser.add_argument("--kmod", required=True)
    parser.add_argument("--diff", action="store_true")
    return parser.parse_args()


def compare(old, new, kmod):
    """What is found, the lists that it was found by, and differences of sources."""
    # The old version's lists, as they are with the new kernel's options.
    lists = mtag.Lists(kmod, old.name, old.release, new.config())
    rules = Rules(old, new, lists, kmod, mtag.arguments(f"{HERE}/arguments", old.name))
    found = rules.run()
    assumptions = assumed.Assumptions(old, new, rules)
    assumptions.run(assumed.read(f"{HERE}/assumptions"))
    return found, lists, assumptions.diffs


def main():
    args = arguments()
    old, new = zip(args.name, args.directory, args.source)
    # A kernel is compared with itself to see that nothing is found.
    old, new = [Kernel(*old)] * 2 if old == new else (Kernel(*old), Kernel(*new))
    found, lists, diffs = compare(old, new, args.kmod)
    show_all(old, new, lists, found)
    if args.diff:
        print("\n" + "\n\n".join(diffs.values()))
    return 1 if found.must or found.look else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"compare: {trouble}", file=sys.stderr)
        sys.exit(2)
