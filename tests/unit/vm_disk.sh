#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The disk that a guest has its programs on (tests/vm/disk.sh) has what the root has that it was made from, and is made
# again when that changes. As e2fsprogs see it, and dpkg.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mtag-disk.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
PATH=$PATH:/usr/sbin

# What tests/vm/run has when it sources disk.sh.
# shellcheck disable=SC2034
vm=$PWD/tests/vm cache=$tmp/cache
say() { echo "said: $*"; }
die() { say "$*"; exit 125; }
as_root() { "$@"; }
progress_follow() { :; }
progress_end() { :; }
# shellcheck source=tests/vm/disk.sh
. tests/vm/disk.sh

# ensure ROOT: as tests/vm/run does; what is said is in $tmp/out, and where the disk is in $tmp/disk.
ensure() { (set -euo pipefail; disk_ensure "$1"; echo "$disk" >"$tmp/disk") >"$tmp/out" 2>&1; }
# tree DIR: the files, whose they are, and what is in them.
tree() (cd "$1" && find . -path ./lost+found -prune -o -printf '%P %y %U %G %l\n' | sort &&
	find . -type f -exec sha256sum {} + | sort)

root=$tmp/root
mkdir -p "$root"/{usr/bin,etc,var/lib/dpkg}
head -c 3000000 /dev/urandom >"$root/usr/bin/program"
chmod 4750 "$root/usr/bin/program"
ln -s program "$root/usr/bin/other"
ln -s usr/bin "$root/bin"
: >"$root/etc/empty"
echo one >"$root/var/lib/dpkg/status"
find "$root" -exec touch -hd '2 hours ago' {} +

ensure "$root"
is $? 0 "a disk of a root is made" || sed 's/^/# /' "$tmp/out"
disk=$(cat "$tmp/disk")
is "$(stat -c %a "$disk")" 600 "for its owner alone, as a root has files that are not for everybody"
e2fsck -fn "$disk" >"$tmp/fsck" 2>&1
is $? 0 "e2fsck finds nothing" || sed 's/^/# /' "$tmp/fsck"
mkdir "$tmp/there"
debugfs -R "rdump / $tmp/there" "$disk" >/dev/null 2>&1
diff <(tree "$root") <(tree "$tmp/there") >"$tmp/diff"
is $? 0 "it has the root's files" || sed 's/^/# /' "$tmp/diff"
# These two debugfs does not give to what it unpacks.
debugfs -R 'stat /usr/bin/program' "$disk" 2>/dev/null | grep -oE 'Mode: *[0-7]+|mtime: 0x[0-9a-f]+' >"$tmp/stat"
is "$(tr -s ' \n' ' ' <"$tmp/stat")" \
	"Mode: 04750 mtime: 0x$(printf %08x "$(stat -c %Y "$root/usr/bin/program")") " "with their modes and times"
ensure "$root"
is "$(cat "$tmp/disk" "$tmp/out")" "$disk" "it is made once"
touch "$root/var/lib/dpkg/status"
ensure "$root"
is "$(cat "$tmp/disk" "$tmp/out")" "$disk" "and not again where dpkg has the same packages"
echo two >"$root/var/lib/dpkg/status"
touch -d '1 minute' "$root/var/lib/dpkg/status"
ensure "$root"
[ "$(cat "$tmp/disk")" != "$disk" ] && grep -q 'said: preparing a disk' "$tmp/out"
ok $? "with other packages there is another one" || sed 's/^/# /' "$tmp/out"

echo three >"$root/var/lib/dpkg/status"
touch -d '2 minutes' "$root/var/lib/dpkg/status"
mkfs.ext4() { echo 'mkfs.ext4: no'; return 1; }
ensure "$root"
is "$? $(grep '^said: cannot' "$tmp/out")" "125 said: cannot prepare a disk of $root" "one that cannot be made is a failure"
is "$(find "$cache/disks" -name '*.img*' | wc -l)" 2 "and nothing is left of it"
unset -f mkfs.ext4

# This machine's: the files alone, as all of them take 10 s.
disk_files >"$tmp/files"
for file in /usr/bin/{bash,grep,python3,redis-server,stress-ng} /usr/sbin/mkswap /etc/ld.so.cache; do
	grep -qx "$file" "$tmp/files" || echo "$file"
done >"$tmp/missing"
is "$(cat "$tmp/missing")" '' "what tests start is on this machine's"
grep -vE '^/(usr|etc)/' "$tmp/files" | while read -r file; do [ -L "$file" ] || echo "$file"; done >"$tmp/beyond"
sed 's|/[^/]*$||' "$tmp/files" | sort -u | while read -r dir; do
	[ "$dir" = "$(realpath "${dir:-/}")" ] || [ -z "$dir" ] || echo "$dir"
done >>"$tmp/beyond"
is "$(cat "$tmp/beyond")" '' "by names that hide nothing else"
done_testing
