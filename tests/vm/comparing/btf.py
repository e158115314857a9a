# SPDX-License-Identifier: GPL-2.0
"""A kernel's types, from the BTF in its image: how functions are declared, and the members of structures.

A reader of our own, as the kernels looked at are newer than the tools of this machine's release.
"""
import struct

from image import Trouble

KINDS = ("void int ptr array struct union enum fwd typedef volatile const restrict func func_proto var datasec float "
         "decl_tag type_tag enum64").split()
# What follows a type's three words: bytes, and bytes for each of its members.
ROOM = {"int": (4, 0), "array": (12, 0), "struct": (0, 12), "union": (0, 12), "enum": (0, 8), "func_proto": (0, 8),
        "var": (4, 0), "datasec": (0, 12), "decl_tag": (4, 0), "enum64": (0, 12)}


class Types:
    """The types of an image."""

    def __init__(self, elf):
        found = elf.section(".BTF")
        if not found:
            raise Trouble("the image has no BTF")
        self.data = elf.data
        magic, version, _, length = struct.unpack_from("<HBBI", self.data, found[1])
        if magic != 0xeb9f or version != 1:
            raise Trouble(f"BTF of an unknown kind, version {version}")
        start = found[1] + length
        types, size, strings, room = struct.unpack_from("<4I", self.data, found[1] + 8)
        self.strings = self.data[start + strings:start + strings + room]
        self.types = [("void", "", 0, 0, 0)]
        self.functions, self.structs = {}, {}
        self.read(start + types, start + types + size)

    def read(self, at, end):
        while at < end:
            name, info, type_ = struct.unpack_from("<3I", self.data, at)
            kind = info >> 24 & 31
            if not 0 < kind < len(KINDS):
                raise Trouble(f"BTF has a type of an unknown kind, {kind}")
            kind, number, at = KINDS[kind], info & 0xffff, at + 12
            if kind == "func":
                self.functions.setdefault(self.string(name), type_)
            elif kind in ("struct", "union") and name:
                self.structs.setdefault(self.string(name), len(self.types))
            self.types.append((kind, self.string(name), type_, number, at, info >> 31))
            fixed, each = ROOM.get(kind, (0, 0))
            at += fixed + each * number

    def string(self, at):
        return self.strings[at:self.strings.index(b"\0", at)].decode() if at else ""

    def parameters(self, function):
        """(name, type in words) of each parameter; None if BTF does not have the function."""
        if function not in self.functions:
            return None
        _, _, _, number, at, _ = self.types[self.functions[function]]
        words = struct.unpack_from(f"<{2 * number}I", self.data, at)
        return [(self.string(name), self.words(type_) if type_ or name else "...")
                for name, type_ in zip(words[::2], words[1::2])]

    def result(self, function):
        return self.words(self.types[self.functions[function]][2])

    def words(self, number):
        """A type as C has it."""
        kind, name, type_ = self.types[number][:3]
        if kind == "ptr":
            return f"{self.words(type_)} *".replace("* *", "**")
        if kind in ("struct", "union", "enum", "enum64"):
            return f"{kind.removesuffix('64')} {name or '{…}'}"
        if kind == "fwd":
            return f"struct {name}"
        if kind in ("const", "volatile", "restrict"):
            return f"{kind} {self.words(type_)}"
        if kind == "type_tag":
            return self.words(type_)
        if kind == "array":
            element, _, length = struct.unpack_from("<3I", self.data, self.types[number][4])
            return f"{self.words(element)}[{length}]"
        if kind == "func_proto":
            return "function"
        return name or kind

    def size(self, structure):
        return self.types[self.structs[structure]][2]

    def members(self, structure):
        """{name: (offset in bits, type in words)} with those of unnamed parts; None without the structure."""
        if structure not in self.structs:
            return None
        found = {}
        self.collect(self.structs[structure], 0, found)
        return found

    def collect(self, number, base, found):
        _, _, _, count, at, fields = self.types[number]
        for i in range(count):
            name, type_, offset = struct.unpack_from("<3I", self.data, at + 12 * i)
            offset = base + (offset & 0xffffff if fields else offset)
            inner = self.types[type_]
            if name:
                found.setdefault(self.string(name), (offset, self.words(type_)))
            elif inner[0] in ("struct", "union"):
                self.collect(type_, offset, found)
