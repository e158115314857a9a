#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make module` on a user's machine: the headers are in /lib/modules, and beside that is a /root, which is no root of
# another release as the cache of tests/vm has it. MAKE=echo shows what would be made of the headers.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp" build/1.2.3-mtag' EXIT
headers=$tmp/lib/modules/1.2.3-mtag/build
mkdir -p "$tmp/root" "$headers"

said=$(make -s module KERNEL=1.2.3-mtag "KDIR=$headers" MAKE=echo 2>&1)
[ $? != 0 ] && [[ $said == *"no kernel headers at $headers"* ]]
ok $? "without headers it says so" || echo "# $said"

touch "$headers/Makefile"
said=$(make -s module KERNEL=1.2.3-mtag "KDIR=$headers" MAKE=echo 2>&1)
is $? 0 "with headers it is built"
[[ $said == *"-C $headers M=$PWD/build/1.2.3-mtag "* && $said != *in-root* ]]
ok $? "by this machine's compiler, though there is a /root" || echo "# $said"
done_testing
