#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench/pages.sh ROUNDS: in the guest: what page events, the library, reading and stacks cost, as rows of bench/run.
. tests/kernel/lib.sh
swap_on_zram 64M && build/bench/cost "$1" && exec mtagctl run -- build/bench/stacks
