# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests/vm/run: root file systems of other Debian releases, in the cache.
#
# A root is made once, from this machine's mirror, and kept in roots/SUITE-HASH; another list of
# packages means another root. Guests see it with a throw-away overlay, as they see this machine's.

# debian_root SUITE: prints the root of that release with what building modules and running tests need.
debian_root() {
	local suite=$1 packages final lock
	packages=$("$vm/../lib/deps" --list module guest)
	final=$cache/roots/$suite-$(cat - "$vm/root.sh" <<<"$packages" | sha256sum | cut -c1-12)
	mkdir -p "$cache/roots"
	exec {lock}>"$cache/roots/.lock-$suite"
	flock "$lock"
	if [ ! -d "$final" ]; then
		say "preparing a root of $suite in $final"
		# shellcheck disable=SC2086
		root_make "$final" "$suite" $packages {lock}>&- >&2 || die "cannot prepare a root of $suite"
	fi
	as_root touch "$final"
	find "$cache/roots" -maxdepth 1 -name "$suite-????????????" ! -name "${final##*/}" -mtime +0 |
		while read -r old; do as_root rm -rf "$old"; done
	exec {lock}>&-
	echo "$final"
}

# root_make FINAL SUITE PACKAGE…: in a temporary directory, then moved into place. Apt is as on this machine; nothing is
# started, nothing read by people is installed, and nothing is synced, as an interrupted root is thrown away.
root_make() {
	local final=$1 suite=$2 dir=$1.new mirror log=$1.log tmp
	shift 2
	"$vm/../lib/deps" root || return
	mirror=$(debian_mirror) || return
	as_root rm -rf "$dir"
	tmp=$(mktemp -d)
	apt-config dump Acquire >"$tmp/apt"
	printf '%s\n' force-unsafe-io path-exclude=/usr/share/{doc,man,info,locale}/'*' >"$tmp/dpkg"
	# In a namespace of its own, for the mounts that it leaves behind when it is interrupted. Were dpkg's settings options
	# of its own, it would filter each package of the first with a program of its own.
	as_root unshare --mount --pid --fork --kill-child mmdebstrap --mode=root --variant=minbase --format=directory \
		--keyring="$keyring" --include="$*" --aptopt="$tmp/apt" --aptopt='APT::Install-Recommends "false"' \
		--essential-hook="install -m 644 '$tmp/dpkg' \"\$1/etc/dpkg/dpkg.cfg.d/mtag\"" \
		"$suite" "$dir" "deb $mirror $suite main" >"$log" 2>&1 </dev/null || { cat "$log"; rm -rf "$tmp"; return 1; }
	rm -rf "$log" "$tmp"
	as_root mv "$dir" "$final"
}
