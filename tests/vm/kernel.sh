# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests/vm/run: makes a kernel and its initramfs available in the cache.
#
# A kernel is a file kernels/NAME defining
#   kernel_key        prints what identifies it (package versions); a new key means a new cache entry
#   kernel_fetch DIR  fills DIR with a vmlinuz, lib/modules/RELEASE and what its `build` link needs
# and optionally
#   kernel_root       prints the root file system to build on and to boot, where this machine's is too old
#   kernel_inputs     prints further files that the key is made from
#   kernel_append     kernel options
#   kernel_share      how it sees this machine's files: 9p, or virtiofs where it lacks that
#   kernel_check      what of `make check` runs there, if not all: core, brief or long (nothing), as tests/run-all says
#   kernel_thread     single where `make check` has one thread for all CPUs of each VM, whatever a test wants
#   kernel_base       of a kernel of our own: the one that it is another build of
#   kernel_slow       how many times longer than on that tests may take
#   kernel_more       MiB of memory that tests get there on top of what they ask for
#   kernel_unfit      1 where mtag must refuse to load: tests/run-all runs nothing there, tests/vm/unfit.sh boots it
#
# Where kernel_key finds that Debian's archive no longer has the packages it calls not_offered, which ends with
# status 123; what is in the cache of the kernel goes on being used.
#
# The cache entry kernels/NAME is a link to store/NAME-HASH, so that an update never pulls the
# files from under a running guest.

# A guest sees the host's root, but not through a link into what it has mounted anew, such as /tmp.
cache=$(realpath -m -- "${XDG_CACHE_HOME:-$HOME/.cache}/mtag")

# What the guest needs before it can see its root; the rest is on it.
initramfs_modules() {
	case ${kernel_share:-9p} in
	9p) echo virtio_pci virtio_blk ext4 9pnet_virtio 9p overlay virtio_console ;;
	virtiofs) echo virtio_pci virtio_blk ext4 virtiofs overlay virtio_console ;;
	esac
}

vm_known_kernels() { ls "$vm/kernels"; }

# apt_get/apt_cache ARG…: of the suite that the kernel's file chose (apt_opts), else this machine's.
apt_opts=()
apt_cache() { apt-cache "${apt_opts[@]}" "$@"; }
apt_get() { apt-get "${apt_opts[@]}" -qq -o APT::Sandbox::User=root "$@"; }
# This machine's own lists are root's.
apt_update() {
	if [ ${#apt_opts[@]} = 0 ]; then as_root apt-get -qq update "$@"; else apt_get update "$@"; fi
}
# apt_reread: the package lists as the archive has them now, all of them. What is in none of them then is not offered.
apt_reread() { apt_update --error-on=any >&2 || die "cannot read the package lists"; }

# apt_download DIR NAME=VERSION…: into DIR. Where that fails the package lists may be old, and with them the kernel's
# key: they are read anew, and key_outdated is set. The caller must then return to kernel_ensure, which starts again.
key_outdated=''
apt_download() {
	(cd "$1" && apt_get download "${@:2}") >&2 && return
	apt_update >&2 && key_outdated=1
	return 1
}

not_offered() { say "Debian's archive no longer offers it: $1"; exit 123; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
debian_mirror() {
	local apt_opts=() site='/debian/*$'
	apt-get indextargets --format '$(SITE)' | grep -m 1 "$site" ||
		{ apt_update >&2 && apt-get indextargets --format '$(SITE)' | grep -m 1 "$site"; } ||
		die "no Debian mirror among this machine's apt sources"
}

# apt_suite SUITE: the packages of that suite, from this machine's own mirror, without touching this
# machine's apt.
apt_suite() {
	local dir=$cache/apt/$1 site
	apt_opts=(-o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o Dir::Etc::PreferencesParts=/dev/null -o "Dir::State::Lists=$dir/lists"
		-o "Dir::Cache::pkgcache=$dir/packages" -o "Dir::Cache::srcpkgcache=")
	! suite_fresh "$dir" || return 0
	mkdir -p "$dir/lists/partial"
	site=$(debian_mirror)
	echo "deb [signed-by=$keyring] $site $1 main" >"$dir/sources.list"
	suite_update "$1"
	touch "$dir/updated"
}

# suite_fresh DIR: its package lists are not a day old, and from the mirror that this machine still has.
suite_fresh() {
	[ -n "$(find "$1/updated" -mmin -1440 2>/dev/null)" ] &&
		[ -z "$(find /etc/apt/sources.list /etc/apt/sources.list.d -newer "$1/updated" 2>/dev/null)" ]
}

# suite_update SUITE: reads the package lists of the suite that apt_opts are for.
suite_update() {
	local said
	said=$(LC_ALL=C apt_get update 2>&1) && return
	echo "$said" >&2
	# The archive has answered, and has no such suite.
	[[ $said != *'does not have a Release file'* || $said == *'Failed to fetch'* ]] || not_offered "the suite $1"
	die "cannot read the package lists of $1"
}

# deb_images VERSION FLAVOUR: the names of its image packages, the newest last.
deb_images() {
	apt_cache pkgnames "linux-image-$1." |
		grep -E "^linux-image-${1//./\\.}\.[0-9.]+(-[0-9]+)?([+][a-z0-9.]+)?-$2$" | sort -V
}

# deb_newest VERSION FLAVOUR: the name of the newest one that has its headers beside it, or else of the newest. The
# archive's lists keep images after they have let go of their headers and sources; its pool has those for longer.
deb_newest() {
	local images
	images=$(deb_images "$@") || return
	{ grep -xFf <(apt_cache pkgnames "linux-headers-$1." | sed 's/headers/image/') || echo "${images##*$'\n'}"; } <<<"$images" |
		tail -n 1
}

# deb_version PACKAGE: that which the lists have of it, or nothing.
deb_version() { apt_cache policy "$1" | awk '$1 == "Candidate:" && $2 ~ /^[0-9]/ {print $2}'; }

# deb_packages VERSION FLAVOUR: of each package to extract "NAME=VERSION", or its file in the pool.
deb_packages() {
	local image headers wanted version pkg listed
	image=$(deb_newest "$@") || { apt_reread; image=$(deb_newest "$@"); } || not_offered "linux-image-$1.*-$2"
	headers=${image/image/headers}
	version=$(deb_version "$image")
	wanted=("$image")
	if [ -n "$(deb_version "$headers")" ]; then
		wanted+=("$headers")
	else
		pkg=${image#linux-image-} pkg=${pkg%-"$2"}
		printf 'pool/%s.deb\n' "${headers}_${version}_amd64" "linux-headers-$pkg-common_${version}_all" \
			"linux-kbuild-${pkg}_${version}_amd64"
	fi
	for pkg in "${wanted[@]}" $(apt_cache depends --important "${wanted[@]}" |
			sed -n 's/^ *Depends: <*\(linux-\(base\|binary\|modules\|headers\|kbuild\)-[0-9][^>]*\)>*$/\1/p'); do
		listed=$(deb_version "$pkg")
		if [ -n "$listed" ]; then echo "$pkg=$listed"; else echo "pool/${pkg}_${version}_amd64.deb"; fi
	done | sort -u
}

# pool_get DIR FILE…: files of the source package linux that no list names any more. So nothing signed says what is in
# them, and they are for tests alone. False where one has gone.
pool_get() {
	local file site
	site=$(debian_mirror)
	for file in "${@:2}"; do
		PATH=$PATH:/usr/lib/apt apt-helper -qq -o APT::Sandbox::User=root download-file \
			"${site%/}/pool/main/l/linux/$file" "$1/$file" >&2 || return
	done
}

# The modules of hardware that no guest has: two thirds of all, each of which depmod would unpack and read.
no_hardware=(sound drivers/{bluetooth,comedi,gpu,hid,hwmon,iio,infiniband,input,leds,media,mmc,mtd,net,platform,staging}
	drivers/{usb,video,w1,watchdog})

# deb_fetch DIR VERSION FLAVOUR: download and extract; absolute paths are made to point into DIR.
deb_fetch() {
	local dir=$1 debs=$1/debs packages pool deb link
	mkdir -p "$debs"
	mapfile -t packages < <(deb_packages "$2" "$3")
	mapfile -t pool < <(printf '%s\n' "${packages[@]}" | sed -n 's|^pool/||p')
	mapfile -t packages < <(printf '%s\n' "${packages[@]}" | grep -v '^pool/')
	pool_get "$debs" ${pool[@]+"${pool[@]}"} || not_offered "linux-headers-$2.*-$3"
	if ! apt_download "$debs" "${packages[@]}"; then
		[ -n "$key_outdated" ] || die "cannot download ${packages[*]}"
		return 0
	fi
	for deb in "$debs"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x --no-same-owner -C "$dir" "${no_hardware[@]/#/--exclude=*/modules/*/kernel/}" --exclude=./usr/share
	done
	rm -rf "$debs"
	[ -e "$dir/lib" ] || ln -s usr/lib "$dir/lib"
	sed -i "s|/usr/src/|$final/usr/src/|g" "$dir"/usr/src/linux-headers-*/Makefile
	for link in "$dir"/lib/modules/*/{build,source}; do
		[[ $(readlink "$link") != /* ]] || ln -sfn "$final$(readlink "$link")" "$link"
	done
}

# kernel_initramfs DIR RELEASE: busybox and the first modules. /init comes with each run.
kernel_initramfs() {
	local dir=$1 release=$2 tree=$1/initramfs n=10 module modules
	read -ra modules <<<"$(initramfs_modules)"
	mkdir -p "$tree"/{bin,modules,proc,sys,dev,host,upper,newroot}
	cp -L "$busybox" "$tree/bin/busybox"
	while read -r _ module _; do
		case $module in
		*.ko) cp "$module" "$tree/modules/$n-${module##*/}" ;;
		*.ko.xz) xz -dc "$module" >"$tree/modules/$n-$(basename "$module" .xz)" ;;
		*.ko.zst) zstd -qdc "$module" >"$tree/modules/$n-$(basename "$module" .zst)" ;;
		esac
		n=$((n + 1))
	done < <(modprobe -d "$dir" -S "$release" --show-depends -a "${modules[@]}" |
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
	' 02 21 4c 18') tool='lz4 -dcq' ;;
	# Ends with the unpacked size by itself; to the others it is added.
	' 1f 8b '*) tool='gzip -dc' length=$((length + 4)) ;;
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
	[ -z "$key_outdated" ] || return 0
	release=$(basename "$dir"/lib/modules/*)
	depmod -b "$dir" "$release"
	ln -s "$(cd "$dir" && find "boot/vmlinuz-$release" "lib/modules/$release/vmlinuz" 2>/dev/null || :)" "$dir/vmlinuz"
	kernel_unpack "$dir/vmlinuz" >"$dir/vmlinux"
	kernel_initramfs "$dir" "$release"
	echo "$release" >"$dir/release"
	echo "$key" >"$dir/key"
	rm -rf "$final"
	mv "$dir" "$final"
}

# kernel_prepare NAME: makes the link to the cache entry for what the archive offers now. With key_outdated set at the
# end it is not done.
kernel_prepare() {
	local name=$1 link=$cache/kernels/$1 key final status=0
	key=$(kernel_key) || status=$?
	if [ $status = 123 ] && [ -f "$link/key" ]; then
		final=$(realpath "$link")
		say "going on with the kernel $name in the cache, $final"
	elif [ $status != 0 ]; then
		exit $status
	else
		final=$cache/store/$name-$(cat - "$vm/kernel.sh" "$busybox" <<<"$key" | sha256sum | cut -c1-12)
	fi
	if [ ! -f "$final/key" ]; then
		say "preparing kernel $name in $final"
		progress_follow "kernel $name" progress_size "$final.new"
		kernel_build "$final" "$key"
		progress_end
		[ -z "$key_outdated" ] || return 0
	fi
	touch "$final/key"
	ln -sfn "../store/${final##*/}" "$link"
	# Predecessors, once no guest can be running from them.
	find "$cache/store" -maxdepth 1 -name "$name-????????????" ! -name "${final##*/}" -mtime +0 \
		-exec rm -rf {} +
}

# kernel_ensure NAME: sets kernel_dir, kernel_release and kernel_root_dir (empty: this machine's).
kernel_ensure() {
	local name=$1 link=$cache/kernels/$1
	[ -f "$vm/kernels/$name" ] ||
		die "unknown kernel '$name'; known: $(vm_known_kernels | tr '\n' ' ')"
	# shellcheck disable=SC1090
	. "$vm/kernels/$name"
	mkdir -p "$cache/kernels" "$cache/store"
	exec {lock}>"$cache/kernels/.lock-$name"
	flock "$lock"
	if ! kernel_fresh "$name"; then
		kernel_prepare "$name"
		if [ -n "$key_outdated" ]; then
			key_outdated=''
			say "trying once more with new package lists"
			kernel_prepare "$name"
			[ -z "$key_outdated" ] || die "cannot download the kernel $name"
		fi
	fi
	kernel_dir=$(realpath "$link")
	kernel_release=$(cat "$kernel_dir/release")
	kernel_root_dir=''
	if declare -F kernel_root >/dev/null; then
		kernel_root_dir=$(kernel_root) || exit
		ln -sfn "$kernel_root_dir" "$kernel_dir/root"
	fi
	exec {lock}>&-
}

# kernel_fresh NAME: nothing that the cache entry was made from is newer than its last check.
kernel_fresh() {
	local key=$cache/kernels/$1/key input
	[ -f "$key" ] || return 1
	for input in "$vm/kernel.sh" "$vm/kernels/$1" "$busybox" /var/lib/apt/lists \
			$(! declare -F kernel_inputs >/dev/null || kernel_inputs); do
		[ ! "$input" -nt "$key" ] || return 1
	done
}
