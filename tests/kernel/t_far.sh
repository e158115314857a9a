#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory of a device far from all other, where the kernel also puts a graphics card's, costs no table of owners. The
# truth is the kernel's, which says where its zones are.
# vm: short=7.3 because="the table is made alike on all" group=far mem=1G module=linger_ms=2000 append=memmap=64M!256G timeout=120
. tests/kernel/lib.sh

modprobe -a nd_e820 nd_pmem
until_true 30 test -b /dev/pmem0
ok $? "there is memory of a device"
grep -q '^4000000000-.* : Persistent Memory' /proc/iomem && grep -A 10 'zone  *Device' /proc/zoneinfo | grep -q 'spanned *16384$'
ok $? "the kernel has pages for it, at 256 GiB" || { cat /proc/iomem; grep -A 10 'zone  *Device' /proc/zoneinfo; } | sed 's/^/# /'
unload && load
ok $? "the module loads"
[ "$(health memory)" -lt $((4 << 20)) ]
ok $? "it takes less than 4 MiB" || health memory | sed 's/^/# /'
done_testing
