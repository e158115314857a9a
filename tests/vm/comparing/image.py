# SPDX-License-Identifier: GPL-2.0
"""A kernel's image: its symbols, which functions ftrace can hook, and who calls whom.

Debian's vmlinux has no symbol table, but the kernel carries its own, compressed, for kallsyms. It is found by what it
looks like, as no symbol says where it is.
"""
import bisect
import re
import struct


TYPES = [bytes([each]) for each in b"AaBbDdRrTtVvWw"]


class Trouble(Exception):
    """The comparison cannot be made; the text says why."""


class Elf:
    """The sections of an ELF file, and the bytes at an address of the kernel."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise Trouble(f"{path}: not an ELF file of 64 bits")
        at, = struct.unpack_from("<Q", self.data, 40)
        size, number, names = struct.unpack_from("<HHH", self.data, 58)
        headers = [struct.unpack_from("<IIQQQQ", self.data, at + i * size) for i in range(number)]
        start = headers[names][4]
        self.sections = []
        for name, kind, _, address, offset, length in headers:
            end = self.data.index(b"\0", start + name)
            self.sections.append((self.data[start + name:end].decode(), kind, address, offset, length))

    def section(self, name):
        """Address, offset in the file and length of a section; None without it."""
        for each, _, address, offset, length in self.sections:
            if each == name:
                return address, offset, length
        return None

    def offset(self, address):
        """Where in the file the byte at an address is."""
        for _, kind, start, offset, length in self.sections:
            if kind != 8 and start and start <= address < start + length:
                return offset + address - start
        raise Trouble(f"no section has the address {address:#x}")


class Kallsyms:
    """The kernel's own table of symbols: `symbols` is a list of (address, type, name), by address."""

    DIGITS = b"0\x001\x002\x003\x004\x005\x006\x007\x008\x009\x00"

    def __init__(self, elf):
        self.data = elf.data
        self.address, self.low, length = elf.section(".rodata")
        self.high = self.low + length
        self.text = elf.section(".text")[0]
        tokens = self.find_tokens()
        self.number, self.names = self.find_names(tokens)
        self.symbols = sorted(zip(self.find_addresses(), *self.read_names()))

    def find_tokens(self):
        """The offset of the table of tokens; sets `tokens`, and `index_end` to what follows its index."""
        at = self.low
        while (at := self.data.find(self.DIGITS, at, self.high)) >= 0:
            start = at
            for _ in range(ord("0") + 1):
                start = self.data.rfind(b"\0", 0, start - 1) + 1 if start else 0
            # One NUL too far: the token before the first ends there.
            start = self.data.index(b"\0", start) + 1
            index = self.find_index(start)
            if index:
                return start
            at += 1
        raise Trouble("the image has no table of tokens of kallsyms")

    def find_index(self, start):
        """Reads 256 tokens from `start`, if the index of these tokens follows."""
        tokens, places, at = [], [], start
        for _ in range(256):
            end = self.data.index(b"\0", at)
            tokens.append(self.data[at:end])
            places.append(at - start)
            at = end + 1
        index = self.data.find(struct.pack("<256H", *places), at, at + 600)
        if index < 0:
            return False
        self.tokens, self.index_end = tokens, index + 512
        return True

    def find_names(self, tokens):
        """The number of symbols and the offset of the first one's name: before the tokens, and aligned."""
        for at in range(tokens & ~3, self.low, -4):
            number, = struct.unpack_from("<I", self.data, at)
            for names in (at + 8, at + 4) if 10000 < number < 1 << 20 else ():
                if self.are_names(names, tokens):
                    return number, names
        raise Trouble("the image has no names of kallsyms")

    def length(self, at):
        """Of the name at `at`: how many bytes tell its length, and the length."""
        length = self.data[at]
        return (2, length & 0x7f | self.data[at + 1] << 7) if length & 0x80 else (1, length)

    def are_names(self, at, tokens):
        """Do names begin at `at`, each with its type first? Then the offset of each 256th name follows them."""
        start, ends = at, []
        for i in range(512):
            used, length = self.length(at)
            if not length or self.tokens[self.data[at + used]][:1] not in TYPES:
                return False
            at += used + length
            if i % 256 == 255:
                ends.append(at - start)
        return self.data.find(struct.pack("<3I", 0, *ends), at, tokens) > 0

    def read_names(self):
        """The types and the names, in the order of the table."""
        at, types, names, tokens = self.names, [], [], self.tokens
        for _ in range(self.number):
            used, length = self.length(at)
            name = b"".join([tokens[i] for i in self.data[at + used:at + used + length]]).decode()
            types.append(name[0])
            names.append(name[1:])
            at += used + length
        return types, names

    def find_addresses(self):
        """The addresses, in the order of the table."""
        # Before 6.4: offsets and their base are before the names; since then behind the index of the tokens. Later
        # ones are relative to their own place.
        room = self.number * 4
        for base in range(self.names - 24, self.names - 8, 4):
            if struct.unpack_from("<Q", self.data, base)[0] == self.text:
                return self.from_base((base - room) & ~7)
        for at in range(self.index_end, self.index_end + 8):
            if struct.unpack_from("<Q", self.data, (at + room + 7) & ~7)[0] == self.text:
                return self.from_base(at)
            if self.address + at - self.low + struct.unpack_from("<i", self.data, at)[0] == self.text:
                return self.from_place(at)
        raise Trouble("the image has no addresses of kallsyms")

    def from_base(self, at):
        offsets = struct.unpack_from(f"<{self.number}i", self.data, at)
        # Where there are negative ones the others are offsets of per-CPU data.
        if min(offsets) < 0:
            return [each if each >= 0 else self.text - 1 - each for each in offsets]
        return [self.text + each for each in offsets]

    def from_place(self, at):
        first = self.address + at - self.low
        offsets = struct.unpack_from(f"<{self.number}i", self.data, at)
        return [first + 4 * i + each for i, each in enumerate(offsets)]


class Image:
    """What the kernel's code says: functions by name, what can be traced, and calls."""

    PART = re.compile(r"\.(isra|constprop|part|cold|llvm)\b.*")

    def __init__(self, path):
        self.elf = elf = Elf(path)
        self.sizes, self.parts = {}, {}
        starts, marks = {}, {}
        for address, kind, name in Kallsyms(elf).symbols:
            if kind in "tTwW" and not name.startswith(("__pfx_", "__cfi_")):
                starts.setdefault(address, []).append(name)
            elif name.endswith("_mcount_loc"):
                marks[name] = address
        self.starts = sorted(starts)
        # Of several names of one function the first stands for it in calls.
        self.names = [starts[each] for each in self.starts]
        for at, names in enumerate(self.names[:-1]):
            for name in names:
                self.sizes.setdefault(name, self.starts[at + 1] - self.starts[at])
                if "." in name:
                    self.parts.setdefault(self.whole(name), set()).add(name)
        self.traceable = self.read_traceable(marks["__start_mcount_loc"], marks["__stop_mcount_loc"])
        self.calls, self.callers = {}, {}
        self.read_calls(starts)

    @classmethod
    def whole(cls, name):
        """The function that a part was split from: the name without .isra.0 and the like."""
        return cls.PART.sub("", name)

    def read_traceable(self, start, stop):
        """The names of the functions that ftrace can hook."""
        places = struct.unpack_from(f"<{(stop - start) // 8}Q", self.elf.data, self.elf.offset(start))
        return {name for place in places if place for name in self.owners(place)}

    def owners(self, address):
        """The names of the function that has an address."""
        return self.names[bisect.bisect_right(self.starts, address) - 1]

    def read_calls(self, starts):
        """Direct calls and jumps to the beginning of functions: each byte that could begin one is looked at."""
        address, start, length = self.elf.section(".text")
        end = start + length - 6
        data, unpack = self.elf.data, struct.Struct("<i").unpack_from
        for found in re.compile(b"[\xe8\xe9]|\x0f[\x80-\x8f]").finditer(data, start, end):
            at = found.end()
            target = address + at - start + 4 + unpack(data, at)[0]
            if target in starts:
                caller, callee = self.owners(address + at - start)[0], starts[target][0]
                calls = self.calls.setdefault(caller, {})
                calls[callee] = calls.get(callee, 0) + 1
                for name in starts[target]:
                    self.callers.setdefault(name, set()).add(caller)
