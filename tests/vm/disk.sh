# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by tests/vm/run: the disk that a guest has its programs on.
#
# Over 9p or virtiofs each opening and each closing of a file is a question to QEMU that takes half a millisecond, and a
# program that starts opens a dozen. With its programs on a disk a guest does the same work in four fifths of the time.
#
# A disk is a read-only ext4 in the cache, disks/NAME-HASH.img: another release's root as a whole; of this machine the
# files of the packages that tests use in a guest, and of those that these need. The guest sees the latter in front of
# the host's root, which shows all that is not there.

# Most programs open these two as they start, and no package has them.
disk_caches=(/etc/ld.so.cache /usr/lib/x86_64-linux-gnu/gconv/gconv-modules.cache)

# disk_ensure ROOT: sets `disk` to the image of that root or, where ROOT is empty, of this machine. The latter is for root
# alone, who can copy whose files these are, and for Debian's kernels: those of our own have no driver of it. `disk` is
# empty otherwise.
disk_ensure() {
	local root=$1 name=host final lock
	disk=''
	[ -n "$root" ] || { [ "$(id -u)" = 0 ] && [ -z "${kernel_base:-}" ]; } || return 0
	[ -z "$root" ] || name=${root##*/}
	disk=$cache/disks/$name
	mkdir -p "$cache/disks"
	exec {lock}>"$cache/disks/.lock-$name"
	flock "$lock"
	if ! disk_fresh "$disk" "$root"; then
		final=$disk-$(disk_key "$root" | sha256sum | cut -c1-12).img
		if [ ! -f "$final" ]; then
			say "preparing a disk in $final"
			progress_follow "a disk of $name" progress_size "$final.new"
			if ! disk_make "$final" "$root" {lock}>&-; then
				as_root rm -rf "$final.new"
				die "cannot prepare a disk of ${root:-this machine}"
			fi
			progress_end
		fi
		as_root touch "$final"
		ln -sfn "${final##*/}" "$disk"
		disk_clean
	fi
	disk=$(realpath "$disk")
	exec {lock}>&-
}

# disk_fresh LINK ROOT: nothing that the image was made from is newer than its last check.
disk_fresh() {
	local input
	[ -f "$1" ] || return 1
	for input in "$vm/disk.sh" "$2/var/lib/dpkg/status" $([ -n "$2" ] || echo "$vm/../lib/deps" "${disk_caches[@]}"); do
		[ ! "$input" -nt "$1" ] || return 1
	done
}

# disk_clean: removes what is a day old and no link names. A guest that runs from it has it open.
disk_clean() {
	local image
	find "$cache/disks" -maxdepth 1 -name '*.img*' -mtime +0 | while read -r image; do
		[ -n "$(find "$cache/disks" -type l -lname "${image##*/}")" ] || as_root rm -rf "$image"
	done
}

# disk_packages: of this machine, those that tests use in a guest, and all that they need.
disk_packages() {
	local first
	mapfile -t first < <("$vm/../lib/deps" --list guest; dpkg-query -W -f '${Essential} ${Package}\n' | sed -n 's/^yes //p')
	apt-cache depends --recurse --installed --important "${first[@]}" | grep '^[^ <|]' | sort -u
}

# disk_key ROOT: what identifies the image.
disk_key() {
	cat "$vm/disk.sh"
	if [ -n "$1" ]; then
		cat "$1/var/lib/dpkg/status"
	else
		# Of the alternatives that a package needs some are known, but not installed.
		disk_packages | xargs dpkg-query -W 2>/dev/null || :
		cat "${disk_caches[@]}" 2>/dev/null || :
	fi
}

# disk_files: the files of these packages, under names that go through no link; and the links of / to /usr, through
# which others name them.
disk_files() {
	local file dir='' real=''
	find "${disk_caches[@]}" -maxdepth 0 2>/dev/null || :
	find / -maxdepth 1 -type l -lname 'usr/*'
	{ disk_packages | xargs dpkg-query -L 2>/dev/null || :; } |
		sed -E 's#^/(s?bin|lib[0-9]*)/#/usr&#' | grep ^/usr/ | grep -vE '^/usr/share/(doc|info|locale|man)/' | sort -u |
		while read -r file; do
			[ -f "$file" ] || [ -L "$file" ] || continue
			if [ "$dir" != "${file%/*}" ]; then
				dir=${file%/*}
				real=$(cd -P "$dir" && pwd)
			fi
			[ "$dir" != "$real" ] || echo "$file"
		done
}

# disk_make FINAL ROOT
disk_make() {
	local new=$1.new tree=$2 files size
	as_root rm -rf "$new"
	mkdir -p "$new"
	if [ -z "$tree" ]; then
		tree=$new/tree
		mkdir -m 755 "$tree"
		disk_files | (cd / && as_root xargs -d '\n' cp -a --parents -t "$tree") || return
	fi
	files=$(as_root find "$tree" | wc -l)
	size=$(as_root du -sk "$tree" | cut -f1)
	# A root has files that are not for everybody.
	install -m 600 /dev/null "$new/img" || return
	# What is never written takes no room. No journal and no checksums: nothing writes there.
	truncate -s $((size * 5 / 4 + 65536))K "$new/img" &&
		as_root mkfs.ext4 -q -m 0 -N $((files * 5 / 4 + 1024)) \
			-O ^has_journal,^metadata_csum,^resize_inode -E nodiscard,root_owner=0:0 -d "$tree" "$new/img" >&2 &&
		mv "$new/img" "$1" && as_root rm -rf "$new"
}
