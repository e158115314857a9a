# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests/vm/run: makes a kernel and its initramfs available in the cache.
#
# A kernel is a file kernels/NAME defining
#   kernel_key        prints what identifies it (package versions); a new key means a new cache entry
#   kernel_fetch DIR  fills DIR with boot/vmlinuz-*, lib/modules/RELEASE and what its `build` link needs
# and optionally kernel_root (a root file system other than this machine's).
#
# The cache entry kernels/NAME is a link to store/NAME-HASH, so that an update never pulls the
# files from under a running guest.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/mtag

# What the guest needs before it can see its root; the rest is on it.
initramfs_modules=(virtio_pci 9pnet_virtio 9p overlay virtio_console)

vm_known_kernels() { ls "$vm/kernels"; }

# apt_get/apt_cache ARG…: of the suite that the kernel's file chose (apt_opts), else this machine's.
apt_opts=()
apt_cache() { apt-cache "${apt_opts[@]}" "$@"; }
apt_get() { apt-get "${apt_opts[@]}" -qq -o APT::Sandbox::User=root "$@"; }

# apt_suite SUITE KEYRING: the packages of that suite, from this machine's own mirror, without
# touching this machine's apt.
apt_suite() {
	local dir=$cache/apt/$1 site
	site=$(apt-get indextargets --format '$(SITE)' | grep -m 1 '/debian/*$') ||
		die "no Debian mirror among this machine's apt sources"
	mkdir -p "$dir/lists/partial"
	echo "deb [signed-by=$2] $site $1 main" >"$dir/sources.list"
	apt_opts=(-o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o Dir::Etc::PreferencesParts=/dev/null -o "Dir::State::Lists=$dir/lists"
		-o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=")
	if [ -z "$(find "$dir/lists" -name '*_Packages*' -mmin -1440)" ]; then
		apt_get update >&2 || die "cannot read the package lists of $1"
	fi
}

# deb_packages IMAGE HEADERS: "NAME=VERSION" of each package to extract.
deb_packages() {
	local image headers pkg
	image=$(apt_cache depends --important "$1" | awk '$1 == "Depends:" && $2 ~ /^linux-image-/ {print $2; exit}')
	headers=$(apt_cache depends --important "$2" | awk '$1 == "Depends:" && $2 ~ /^linux-headers-/ {print $2; exit}')
	[ -n "$image" ] && [ -n "$headers" ] || die "apt knows no $1 and $2; try apt-get update"
	for pkg in "$image" "$headers" $(apt_cache depends --important "$headers" |
			awk '$1 == "Depends:" && $2 ~ /^linux-(headers|kbuild)-/ {print $2}'); do
		apt_cache policy "$pkg" | awk -v p="$pkg" '$1 == "Candidate:" {print p "=" $2}'
	done
}

# deb_key IMAGE HEADERS VERSION: as deb_packages, after checking that it is a VERSION kernel.
deb_key() {
	local packages
	packages=$(deb_packages "$1" "$2") || return
	grep -q "^linux-image-${3//./\\.}[.+]" <<<"$packages" ||
		die "kernel $3: this machine's apt offers ${packages%%$'\n'*} instead"
	echo "$packages"
}

# deb_fetch DIR IMAGE HEADERS: download and extract; absolute paths are made to point into DIR.
deb_fetch() {
	local dir=$1 debs=$1/debs packages deb
	mkdir -p "$debs"
	mapfile -t packages < <(deb_packages "$2" "$3")
	(cd "$debs" && apt_get download "${packages[@]}") >&2 || die "cannot download ${packages[*]}"
	for deb in "$debs"/*.deb; do dpkg-deb --extract "$deb" "$dir"; done
	rm -rf "$debs" "$dir/usr/share"
	sed -i "s|/usr/src/|$final/usr/src/|g" "$dir"/usr/src/linux-headers-*/Makefile
	local link
	for link in "$dir"/lib/modules/*/{build,source}; do
		[ ! -L "$link" ] || ln -sfn "$final$(readlink "$link")" "$link"
	done
}

# kernel_initramfs DIR RELEASE: busybox and the first modules. /init comes with each run.
kernel_initramfs() {
	local dir=$1 release=$2 tree=$1/initramfs n=10 module
	mkdir -p "$tree"/{bin,modules,proc,sys,dev,host,upper,newroot}
	cp -L "$busybox" "$tree/bin/busybox"
	while read -r _ module _; do
		case $module in
		*.ko) cp "$module" "$tree/modules/$n-${module##*/}" ;;
		*.ko.xz) xz -dc "$module" >"$tree/modules/$n-$(basename "$module" .xz)" ;;
		*.ko.zst) zstd -qdc "$module" >"$tree/modules/$n-$(basename "$module" .zst)" ;;
		esac
		n=$((n + 1))
	done < <(modprobe -d "$dir" -S "$release" --show-depends -a "${initramfs_modules[@]}" |
			grep ^insmod | awk '!seen[$0]++')
	(cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$dir/initramfs.gz"
	rm -rf "$tree"
}

# kernel_unpack IMAGE: the ELF file in a compressed kernel, which boots without unpacking itself. The
# boot protocol's header says where it is: setup_sects, payload_offset and payload_length.
kernel_unpack() {
	local at length tool
	at=$((($(od -An -tu1 -j 497 -N 1 "$1") + 1) * 512 + $(od -An -tu4 -j 584 -N 4 "$1")))
	length=$(od -An -tu4 -j 588 -N 4 "$1")
	case $(od -An -tx1 -j "$at" -N 4 "$1") in
	' fd 37 7a 58') tool='xz -dc --single-stream' ;;
	' 28 b5 2f fd') tool='zstd -dcq' ;;
	*) die "$1: compressed in an unknown manner" ;;
	esac
	# The last 4 bytes are the unpacked size.
	head -c $((at + length - 4)) "$1" | tail -c $((length - 4)) | $tool
}

# kernel_build FINAL KEY: fetch into a temporary directory, then move it into place.
kernel_build() {
	local final=$1 key=$2 dir=$1.new release
	rm -rf "$dir"
	mkdir -p "$dir"
	kernel_fetch "$dir"
	release=$(basename "$dir"/lib/modules/*)
	depmod -b "$dir" "$release"
	ln -s "boot/vmlinuz-$release" "$dir/vmlinuz"
	kernel_unpack "$dir/vmlinuz" >"$dir/vmlinux"
	kernel_initramfs "$dir" "$release"
	echo "$release" >"$dir/release"
	echo "$key" >"$dir/key"
	rm -rf "$final"
	mv "$dir" "$final"
}

# kernel_ensure NAME: sets kernel_dir and kernel_release.
kernel_ensure() {
	local name=$1 link=$cache/kernels/$1 key final
	[ -f "$vm/kernels/$name" ] ||
		die "unknown kernel '$name'; known: $(vm_known_kernels | tr '\n' ' ')"
	# shellcheck disable=SC1090
	. "$vm/kernels/$name"
	mkdir -p "$cache/kernels" "$cache/store"
	exec {lock}>"$cache/kernels/.lock-$name"
	flock "$lock"
	if ! kernel_fresh "$name"; then
		key=$(kernel_key) || exit
		final=$cache/store/$name-$(cat - "$vm/kernel.sh" "$busybox" <<<"$key" | sha256sum | cut -c1-12)
		if [ ! -f "$final/key" ]; then
			say "preparing kernel $name in $final"
			kernel_build "$final" "$key"
		fi
		touch "$final/key"
		ln -sfn "../store/${final##*/}" "$link"
		# Predecessors, once no guest can be running from them.
		find "$cache/store" -maxdepth 1 -name "$name-????????????" ! -name "${final##*/}" -mtime +0 \
			-exec rm -rf {} +
	fi
	exec {lock}>&-
	kernel_dir=$(realpath "$link")
	kernel_release=$(cat "$kernel_dir/release")
}

# kernel_fresh NAME: nothing that the cache entry was made from is newer than its last check.
kernel_fresh() {
	local key=$cache/kernels/$1/key input
	[ -f "$key" ] || return 1
	for input in "$vm/kernel.sh" "$vm/kernels/$1" "$busybox" /var/lib/apt/lists; do
		[ ! "$input" -nt "$key" ] || return 1
	done
}
