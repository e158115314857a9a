# SPDX-License-Identifier: GPL-2.0
"""A kernel's source: what its functions and macros say, by name.

The kernel's style is all the grammar that this needs: a function begins with its name in a line that is not indented,
and its body is between a { and a } in lines of their own. What is shorter than that has no body worth comparing but
for one-line inlines, which are written so, too.
"""
import os
import re

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.S)
BODY = re.compile(r"^\{\n.*?^\}", re.M | re.S)
NAME = re.compile(r"\b(?!__attribute__|__aligned|__printf|DEFINE_)(\w+)\s*\(")
SYSCALL = re.compile(r"\b(?:COMPAT_)?SYSCALL_DEFINE\d\((\w+)")
DIRECTIVE = re.compile(r"^#(?:\\\n|[^\n])*\n", re.M)
MACRO = re.compile(r"^#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])+)", re.M)


def plain(text):
    """C without comments; strings stay."""
    return COMMENT.sub(lambda found: found[0] if found[0][0] in "\"'" else " ", text)


def bodies(text):
    """(name, header and body) of each function of a file."""
    text = plain(text)
    end = 0
    for found in BODY.finditer(text):
        # From the line after the last thing that ended, without what is the preprocessor's.
        header = re.split(r"[;}]\s*\n|\n\s*\n", DIRECTIVE.sub("", text[end:found.start()]))[-1].strip()
        end = found.end()
        name = SYSCALL.search(header) or NAME.search(header)
        if name and "=" not in header.split("(")[0]:
            yield name[1], header + "\n" + found[0]


class Source:
    """The functions, and the macros, in the files of a directory."""

    def __init__(self, directory):
        self.functions, self.macros = {}, {}
        for base, _, files in sorted(os.walk(directory)):
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    self.read(os.path.join(base, name), directory)

    def read(self, path, directory):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        for name, body in bodies(text):
            # Of several, as for options that are not set, the longest is the one that does something.
            old = self.functions.get(name)
            if not old or len(body) > len(old[1]):
                self.functions[name] = (os.path.relpath(path, directory), body)
        for name, body in MACRO.findall(plain(text)):
            self.macros.setdefault(name, (os.path.relpath(path, directory), body.replace("\\\n", "\n")))

    def has(self, name):
        return name in self.functions or name in self.macros

    def find(self, name):
        """The file, and the text."""
        return self.functions.get(name) or self.macros[name]

    def text(self, name):
        """Lines of the function, without differences that mean nothing to the compiler."""
        lines = (" ".join(line.split()) for line in self.find(name)[1].splitlines())
        return [line for line in lines if line]

    def mentions(self, name, word):
        return bool(re.search(rf"\b{word}\b", self.find(name)[1]))

    def users(self, word, places=("mm", "kernel", "fs", "arch")):
        """The functions of C files in which a word is used, other than those named so."""
        match = re.compile(rf"\b(?:{word})\b")
        return {name for name, (path, body) in self.functions.items()
                if path.startswith(places) and path.endswith(".c") and match.search(body.split("{", 1)[1])
                and not match.fullmatch(name)}
