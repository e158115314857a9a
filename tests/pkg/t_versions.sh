#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The version is told in several places, as are the library's symbols and the kernels: they agree.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh

version=$(sed -n 's/^VERSION *:= *//p' Makefile)
is "$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)" "$version" "dkms.conf has the Makefile's version"
is "$(sed -n 's/^MODULE_VERSION("\(.*\)");/\1/p' kmod/main.c)" "$version" "so has the module"
is "$(sed -n '1s/^mtag (\(.*\)) .*/\1/p' debian/changelog)" "$version" "and the newest entry of debian/changelog"

symbols() { sed -n "s/^[ \t]*\(mtag_[a-z0-9_]*\)$1.*/\1/p" "$2" | sort; }
is "$(symbols @ debian/libmtag0.symbols)" "$(symbols \; lib/libmtag.map)" "debian/libmtag0.symbols has the library's symbols"

# supports RELEASE: as DKMS sees it.
supports() { [[ $1 =~ $(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"/\1/p' dkms.conf) ]]; }
for functions in kmod/compat/functions-[0-9]*.h; do
	kernel=${functions#*functions-}
	supports "${kernel%.h}.12-amd64"
	ok $? "DKMS builds the module for ${kernel%.h}, which kmod/compat/ knows"
done
! supports 6.10.1-amd64 && ! supports 6.120.1 && ! supports 16.1.0
ok $? "and for no other"
done_testing
