# SPDX-License-Identifier: GPL-2.0
"""What mtag's sources say of a kernel: the lists of kmod/compat, and the names that kmod/ uses."""
import glob
import os
import re
import subprocess

from image import Trouble

ENTRY = re.compile(r'\b(HOOK|CALLED|CALLER|PART)\s*\(\s*"(\w+)"\s*,\s*("([\w ]*)"|\w+)')
# The kernel's structures that mtag looks into, of which members are looked for by name.
STRUCTS = ("page folio vm_area_struct mm_struct task_struct signal_struct sighand_struct linux_binprm file path cred "
           "user_namespace pcpu_hot task_exec_state swap_info_struct mm_walk ftrace_ops").split()


def version(name):
    """6.12 of 6.12-rt, for comparing."""
    found = re.match(r"(\d+)\.(\d+)", name)
    if not found:
        raise Trouble(f"'{name}' does not begin with a version")
    return int(found[1]), int(found[2])


class Lists:
    """The functions that mtag hooks in a kernel, and their callers."""

    def __init__(self, kmod, name, release, config):
        self.kmod = kmod
        self.file = self.find(name)
        self.hooks, self.callers, self.parts, self.called = {}, {}, {}, {}
        for kind, function, value, words in ENTRY.findall(self.preprocessed(release, config)):
            if kind == "HOOK":
                self.hooks[function] = value
            elif kind == "CALLED":
                self.called[function] = words.split()
            else:
                (self.callers if kind == "CALLER" else self.parts)[function] = value

    def find(self, name):
        """The list for the kernel: that of its version, or of the last one before it."""
        files = {version(os.path.basename(path)[len("functions-"):]): path
                 for path in glob.glob(f"{self.kmod}/compat/functions-[0-9]*.h")}
        known = [each for each in sorted(files) if each <= version(name)]
        if not known:
            raise Trouble(f"no kmod/compat/functions-*.h is for a kernel as old as {name}")
        return files[known[-1]]

    def preprocessed(self, release, config):
        """The list as the compiler sees it with the kernel's options."""
        major, minor = version(release)
        with open(f"{self.kmod}/compat/compat.h", encoding="utf-8") as file:
            macros = re.findall(r"^#define MTAG_(?:SINCE|KERNEL_\w+)[^\n]*\n", file.read(), re.M)
        with open(config, encoding="utf-8") as file:
            options = re.findall(r"^(CONFIG_\w+)=y$", file.read(), re.M)
        head = [f"#define LINUX_VERSION_CODE {(major << 16) + (minor << 8)}\n",
                "#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))\n", *macros,
                *(f"#define {option} 1\n" for option in options), f'#include "{os.path.abspath(self.file)}"\n']
        ran = subprocess.run(["cc", "-E", "-P", "-x", "c", "-"], input="".join(head), capture_output=True, text=True,
                             check=False)
        if ran.returncode:
            raise Trouble(f"{self.file}: {ran.stderr.strip()}")
        return ran.stdout

    def all_callers(self):
        return {**self.callers, **self.parts}

    def of_pages(self, function):
        """Is the hook one that tells events of pages apart by their callers?"""
        return bool(re.match(r"mtag_(rmap|page|folio)_", self.hooks.get(function, "")))


def sources(kmod):
    """All of kmod/ as one text."""
    text = []
    for path in sorted(glob.glob(f"{kmod}/*.[ch]") + glob.glob(f"{kmod}/compat/*")):
        with open(path, encoding="utf-8") as file:
            text.append(file.read())
    return "\n".join(text)


def resolved(text):
    """The functions that mtag finds by name, to call them or to know of calls."""
    return sorted(set(re.findall(r'(?:mtag_resolve(?:_probe|_call)?\((?:\w+, )?|\.symbol_name = )"(\w+)"', text)))


def unlisted(kmod):
    """The words in the module's source that neither a list nor resolved() has: none may be a function of a kernel."""
    text, lists = sources(kmod), ""
    for path in glob.glob(f"{kmod}/compat/functions-*"):
        with open(path, encoding="utf-8") as file:
            lists += file.read()
    words, listed = (set(re.findall(r'"(\w+)"', each)) for each in (text, lists))
    return words - listed - set(resolved(text))


def forms(text):
    """What the compiler may add to a caller's name: the suffixes by which the module looks for it."""
    suffixes = re.findall(r'"([\w.]*)"', re.search(r"#define MTAG_SUFFIXES (.*)", text)[1])
    return {suffix + cold for suffix in suffixes for cold in ("", ".cold")}


def members(text):
    """The names after -> and . : members, of whatever structure."""
    return set(re.findall(r"(?:->|\.)(\w+)", text)) | set(re.findall(r"offsetof\(struct \w+, (\w+)\)", text))


def arguments(path, name):
    """Which arguments are read in the kernel: {function: positions}. Later lines of a function are of later versions."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                function, *positions = line.split()
                function, _, since = function.partition("@")
                if not since or version(since) <= version(name):
                    found[function] = [int(each) for each in positions if each != "-"]
    return found
