# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced in the guest, whose files are the host's until they are written to.

# in_memory PATH…: moves files, and what is in directories, to the guest's own memory. Opening one of the host's waits
# for it, which takes another number of instructions each time. They keep their times, by which Python trusts its caches.
in_memory() { find -L "$@" '(' -type f -o -type d ')' -exec touch -ac {} + 2>/dev/null; }

# libraries_of PROGRAM…: the shared libraries that they need.
libraries_of() { ldd "$@" | grep -o '/[^ ]*\.so[^ ]*' | sort -u; }
