#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl doctor on made-up machines: a tree of /proc, /sys, /boot and /lib/modules in which nothing is
# wrong, and then one thing at a time is. What can be wrong for real, t_doctor has wrong for real.
cd "$(dirname "$(realpath "$0")")/../.." || exit
PATH=$PATH:/sbin:/usr/sbin
ctl='timeout 30 build/bin/mtagctl' release=6.1.0-99-test n=0 failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
root=$tmp/root

# put FILE LINE…: a file of the machine.
put() {
	local file=$root/$1
	shift
	mkdir -p "${file%/*}"
	printf '%s\n' "$@" >"$file"
}

# build FILE FIELD=VALUE…: a module's file, with nothing but what modinfo shows.
build() {
	local file=$1
	shift
	printf '%s\0' "$@" >"$tmp/modinfo"
	cc -c -x c -o "$file" /dev/null && objcopy --add-section .modinfo="$tmp/modinfo" "$file"
}
# module FIELD=VALUE…: the installed one.
module() {
	local dir=$root/lib/modules/$release
	mkdir -p "$dir"
	build "$dir/mtag.ko" name=mtag "$@" && depmod -b "$root" "$release" 2>/dev/null
}

hooks='folio_add page_remove.x mm_drop '
functions=(folio_add page_remove.x mm_drop copy_pages)
# What dkms wants to see before it builds, and more.
needed=(KALLSYMS TRACEPOINTS $(sed -n 's/^BUILD_EXCLUSIVE_CONFIG="\(.*\)"/\1/p' dkms.conf | sed 's/CONFIG_//g'))
options=("${needed[@]}" FUNCTION_TRACER DYNAMIC_FTRACE_WITH_ARGS SECURITY_LOCKDOWN_LSM)
sys=sys/kernel lib=lib/modules/$release

# A machine on which the module is loaded and all is well.
machine() {
	rm -rf "$root"
	put proc/sys/kernel/osrelease $release
	put proc/sys/kernel/version '#1 SMP PREEMPT_DYNAMIC Debian 6.1.99-1 (2026-01-01)'
	put proc/sys/kernel/ftrace_enabled 1
	put proc/kallsyms "${functions[@]/#/0000000000000000 T }"
	put proc/filesystems $'nodev\tdebugfs'
	put proc/1/mounts 'none /sys/kernel/debug debugfs rw 0 0' 'none /sys/kernel/tracing tracefs rw 0 0'
	put boot/config-$release "${options[@]/%/=y}"
	sed -i 's/^/CONFIG_/' "$root/boot/config-$release"
	put $lib/build/Makefile
	put $sys/tracing/available_filter_functions "${functions[@]}"
	put $sys/debug/kprobes/enabled 1
	put $sys/debug/kprobes/blacklist $'0x0-0x1\tdo_int3'
	put $sys/security/lockdown '[none] integrity confidentiality'
	put sys/module/module/parameters/sig_enforce N
	put sys/module/mtag/version 1.2.3
	put sys/module/mtag/srcversion ABC
	module "hooks=$hooks" callers=copy_pages "vermagic=$release SMP" srcversion=ABC
}
unloaded() {
	machine
	rm -r "$root/sys/module/mtag"
}

# ok STATUS NAME
ok() {
	n=$((n + 1))
	[ "$1" = 0 ] || failed=1
	[ "$1" = 0 ] && echo "ok $n - $2" || echo "not ok $n - $2"
	return "$1"
}

# sees EXIT STATUS CHECK DETAIL ADVICE NAME: what doctor says of a check; DETAIL and ADVICE are part of
# it, a | being its end. It is told the options of "given", and looks for programs along "search".
given=() search=$PATH
sees() {
	local out status line detail advice
	out=$(timeout 30 env PATH="$search" build/bin/mtagctl -j doctor --root "$root" "${given[@]}" 2>&1)
	status=$?
	line=$(sed 's/},{/},\n{/g' <<<"$out" | grep -F "\"check\":\"$3\",")
	detail=${line#*'"detail":"'} advice=${line#*'"advice":"'}
	[ "$status" = "$1" ] && [[ $line == *"\"status\":\"$2\""* ]] &&
		[[ ${detail%'","advice":'*}'|' == *"$4"* ]] && [[ ${advice%'"}'*}'|' == *"$5"* ]]
	ok $? "$6" || echo "#   exit $status: $line"
}

machine
sees 0 ok module 'version 1.2.3' '' 'a machine on which all is well'
out=$($ctl -j doctor --root "$root" | sed 's/},{/},\n{/g' | grep -vc '"status":"ok"')
[ "$out" = 0 ]
ok $? 'nothing there is a warning'

put sys/module/mtag/srcversion DEF
sees 0 warn module 'another build is installed' 'rmmod mtag && modprobe mtag' 'another build is loaded than is installed'

unloaded
sees 4 fail module 'not loaded' 'modprobe mtag' 'the module is not loaded'
sees 4 ok symbols 'all 4 functions' '' 'it would find its functions'
rm "$root/$lib/mtag.ko"
depmod -b "$root" $release 2>/dev/null
sees 4 fail module 'not built for this kernel' 'apt install mtag-dkms' 'the module is not built'
sees 4 fail symbols 'folio_migrate_flags' "Debian's kernels" 'then the list of that kernel tells what it needs'
sees 4 ok 'kernel headers' installed '' 'headers are there to build it'
rm -r "$root/$lib/build"
sees 4 fail 'kernel headers' 'not installed' 'apt install linux-headers-' 'headers are missing'
unloaded
rm -r "$root/$lib/build"
sees 4 ok 'kernel headers' 'the module is built' '' 'headers are not missed once the module is built'
unloaded
module "hooks=$hooks" 'vermagic=6.1.0-1-other SMP'
sees 4 fail module 'for kernel 6.1.0-1-other' 'make module KERNEL=' 'the module is built for another kernel'
unloaded
put proc/sys/kernel/osrelease 5.10.0-1-amd64
sees 4 fail kernel 'does not know 5.10.0-1-amd64; it knows 6.1' 'Boot one' 'the kernel is none that mtag knows'
put proc/sys/kernel/osrelease 6.1.0-1-amd64
sees 4 ok kernel 6.1.0-1-amd64 '' 'another is'
put proc/sys/kernel/version '#45-Ubuntu SMP PREEMPT_DYNAMIC Mon Jan 5 10:00:00 UTC 2026'
sees 4 warn kernel "6.1.0-1-amd64 is not Debian's build of it|" 'refuses to load' "one of a known version that is not Debian's is not tested"
machine
put proc/sys/kernel/version '#45-Ubuntu SMP'
sees 0 ok kernel $release '' 'there the module has tested itself, once it is loaded'
unloaded
put proc/sys/kernel/osrelease a.kernel
sees 4 fail kernel 'does not know a.kernel; it knows 6.1' '' 'no version is near what is no version'

# listed VERSION [CALLER]: the functions that mtag hooks there, and their callers.
listed() {
	cpp -P kmod/compat/functions-"$1".h | sed -nE "s/^(HOOK${2:+|$2})\(\"(\w+)\".*/\2/p" | sort -u
}
# An unknown kernel that has all functions of the nearest one.
unknown() {
	unloaded
	rm "$root/$lib/mtag.ko"
	depmod -b "$root" $release 2>/dev/null
	put proc/sys/kernel/osrelease 6.13.2-rc1-test
	mv "$root/boot/config-$release" "$root/boot/config-6.13.2-rc1-test"
	put proc/kallsyms $(listed 6.12 CALLER | sed 's/.*/0000000000000000 T &/' | tr ' ' '~')
	sed -i 's/~/ /g' "$root/proc/kallsyms"
	put $sys/tracing/available_filter_functions $(listed 6.12)
}
unknown
all=$(listed 6.12 CALLER | wc -l)
sees 4 fail kernel 'does not know 6.13.2-rc1-test; it knows 6.1, 6.12' 'checks of symbols' 'a kernel is unknown'
sees 4 fail kernel ' and the nearest is 6.12|' '' 'the nearest one is named'
sees 4 fail module 'not built for this kernel' 'check of the kernel' 'no module can be built for it'
sees 4 warn symbols "has all $all functions of 6.12, the nearest" 'does not tell' 'that it has all functions proves nothing'
sees 4 ok 'function tracing' "all $(listed 6.12 | wc -l) functions to hook can be traced that are hooked in 6.12|" '' \
	'nor does that they can be traced'
sed -i '/ exit_mmap$/d; s/ do_wp_page$/ do_wp_page.isra.0/' "$root/proc/kallsyms"
sees 4 fail symbols "of the $all functions of 6.12" '' 'it is compared with the nearest'
sees 4 fail symbols 'lacks: exit_mmap, do_wp_page (there is do_wp_page.isra.0)|' '' 'what it lacks is named'
sed -i '/^lru_gen_del_mm$/d' "$root/$sys/tracing/available_filter_functions"
sees 4 warn 'function tracing' 'cannot be traced: lru_gen_del_mm|' '' 'so is what cannot be traced there'
# The build says the same of each version, be it older, newer, between, or a release candidate.
for version in 2.6 5.10.0-1-amd64 6.0-rc3 6.6 6.7.0 6.13.1 6.14.0-rc2 6.15.5 7.4 7.5.0 8.0-rc1 19.3; do
	put proc/sys/kernel/osrelease "$version"
	nearest=$(kmod/compat/known.sh "$version" 2>&1 | sed -n 's/.* The nearest is \(.*\)\.$/\1/p')
	sees 4 fail kernel " and the nearest is ${nearest:-?}|" '' "the build and doctor agree on what is near $version"
done

for option in "${needed[@]}"; do
	unloaded
	sed -i "s/^CONFIG_$option=y/# CONFIG_$option is not set/" "$root/boot/config-$release"
	sees 4 fail configuration "lacks CONFIG_$option|" 'built with these options' "the kernel has no CONFIG_$option"
done
for option in FUNCTION_TRACER DYNAMIC_FTRACE_WITH_ARGS; do
	unloaded
	sed -i "/^CONFIG_$option=/d" "$root/boot/config-$release"
	sees 4 warn 'function tracing' "CONFIG_$option" kprobes "the kernel has no CONFIG_$option"
	echo CONFIG_PREEMPT_RT=y >>"$root/boot/config-$release"
	sees 4 fail 'function tracing' "CONFIG_$option" "Debian's" "nor has it with PREEMPT_RT"
done
unloaded
gzip -c "$root/boot/config-$release" >"$root/proc/config.gz"
rm "$root/boot/config-$release"
sees 4 ok configuration 'are set' '' 'the configuration may be in /proc/config.gz'
rm "$root/proc/config.gz"
sees 4 warn configuration 'was not found' '' 'or nowhere'
head -c 40000000 /dev/zero | gzip >"$root/proc/config.gz"
sees 4 warn configuration 'was not found' '' 'what is far too long is none'

unloaded
sed -i '/ mm_drop$/d' "$root/proc/kallsyms"
sees 4 fail symbols ': mm_drop|' "Debian's kernels" 'a function to hook is inlined'
unloaded
sed -i 's/ mm_drop$/ mm_drop.isra.0/' "$root/proc/kallsyms"
sees 4 fail symbols ': mm_drop (there is mm_drop.isra.0)' "Debian's kernels" 'a function to hook is renamed'
unloaded
sed -i 's/ mm_drop$/ mm_drop.cold/' "$root/proc/kallsyms"
sees 4 fail symbols ': mm_drop|' '' 'a cold part is no function'
unloaded
sed -i 's/ mm_drop$/ mm_drop\t[other]/' "$root/proc/kallsyms"
sees 4 fail symbols ': mm_drop|' '' "a module's function of that name is not the kernel's"
unloaded
sed -i '/ copy_pages$/d' "$root/proc/kallsyms"
sees 4 fail symbols ': copy_pages|' '' 'a caller is inlined'
unloaded
rm "$root/proc/kallsyms"
sees 4 warn symbols 'not readable' CONFIG_KALLSYMS 'there is no /proc/kallsyms'
unloaded
many=$(printf 'function_%04d ' {1..200})
module "hooks=$many" "vermagic=$release SMP"
sees 4 fail symbols 'function_0001, function_0002' '' 'very many functions are missing'
sees 4 fail symbols ' more' '' 'the rest is counted'
unloaded
module "hooks=$(printf 'f%.0s' {1..150}) gone also_gone" "vermagic=$release SMP"
sees 4 fail symbols ': gone, also_gone and 1 more|' '' 'so is one with too long a name'

unloaded
sed -i '/^mm_drop$/d' "$root/$sys/tracing/available_filter_functions"
sees 4 warn 'function tracing' ': mm_drop|' kprobes 'a function cannot be traced'
put $sys/debug/kprobes/blacklist $'0x0-0x1\tmm_drop'
sees 4 fail 'function tracing' ': mm_drop, and this kernel forbids a kprobe on mm_drop|' "Debian's" 'nor may it be probed'
echo CONFIG_PREEMPT_RT=y >>"$root/boot/config-$release"
sees 4 fail 'function tracing' 'mm_drop: PREEMPT_RT' "Debian's" 'nor can it with PREEMPT_RT'
unloaded
put proc/sys/kernel/ftrace_enabled 0
sees 4 fail 'ftrace switch' 'switched off' 'sysctl kernel.ftrace_enabled=1' 'tracing is switched off'
machine
put proc/sys/kernel/ftrace_enabled 0
sees 2 fail 'ftrace switch' 'switched off' '' 'though the module is loaded'
unloaded
put $sys/debug/kprobes/enabled 0
sees 4 warn 'kprobes switch' 'switched off' 'echo 1 >' 'kprobes are switched off'

machine
put proc/1/mounts 'none / ext4 rw 0 0'
sees 0 warn debugfs 'not mounted' 'mount -t debugfs' 'debugfs is not mounted'
sees 0 warn tracefs 'not mounted' 'mount -t tracefs' 'tracefs is not mounted'
put proc/filesystems $'\text4'
sees 0 warn debugfs 'has none' 'debugfs=off' 'debugfs is switched off'

unloaded
rm "$root/$sys/security/lockdown"
sees 4 warn lockdown 'cannot be seen' 'mount -t securityfs' 'lockdown cannot be seen'
for level in integrity confidentiality; do
	unloaded
	put $sys/security/lockdown "none [$level]"
	sees 4 fail lockdown "$level" "module's signature" "lockdown is $level"
	sees 4 fail 'module signature' 'not signed' 'Let dkms build and sign it' "which refuses an unsigned module"
	machine
	put $sys/security/lockdown "none [$level]"
	sees 0 ok lockdown "$level" '' "lockdown is $level, and the module loaded"
	sees 0 warn 'module signature' 'next boot' '' 'but it would not be again'
done
unloaded
module "hooks=$hooks" callers=copy_pages "vermagic=$release SMP" sig_id=PKCS#7 signer='A key'
put $sys/security/lockdown 'none [integrity]'
sees 4 ok 'module signature' 'A key, whose key only root can look up|' '' 'the module is signed, and the keys cannot be seen'
sees 4 ok lockdown integrity '' 'then lockdown is no obstacle that anyone knows of'
unloaded
put sys/module/module/parameters/sig_enforce Y
sees 4 fail 'module signature' 'not signed' dkms 'unsigned modules are refused'
rm "$root/$lib/mtag.ko"
depmod -b "$root" $release 2>/dev/null
sees 4 warn 'module signature' enforced signing.md 'so would one be that is yet to be built'

# The file of -m is what is judged, not the module that is loaded or installed.
file=$tmp/given.ko
needs=("hooks=$hooks" callers=copy_pages "vermagic=$release SMP")
given=(-m "$file")
machine
build "$file" name=mtag "${needs[@]}" srcversion=ABC
sees 0 ok module 'loaded, version 1.2.3|' '' 'a file is the build that is loaded'
build "$file" name=mtag "${needs[@]}" srcversion=DEF
sees 0 warn module 'this file is another build than the one loaded|' 'rmmod mtag && insmod FILE|' 'a file is another build than is loaded'
build "$file" name=mtag "hooks=$hooks other" "vermagic=$release SMP" srcversion=DEF
sees 2 fail symbols ': other|' "Debian's kernels" 'a file needs more than the loaded module'
build "$file" name=mtag "${needs[@]}" srcversion=DEF
put sys/module/module/parameters/sig_enforce Y
sees 2 fail 'module signature' 'not signed, and this kernel refuses it|' dkms "a file's signature counts, not that the loaded module was accepted"
# signed SIGNER: the file, signed by that key as modinfo shows it.
signed() { build "$file" name=mtag "${needs[@]}" srcversion=DEF sig_id=PKCS#7 signer="$1"; }
put proc/keys '0a I------ 1 perm 1f030000 0 0 asymmetric A key: 12ab: X509.rsa 12ab []'
signed 'A key'
sees 0 ok 'module signature' 'enforced; the module is signed by A key|' '' 'a file is signed by a known key'
signed Nobody
sees 2 fail 'module signature' 'unknown key, of Nobody, and this kernel refuses it|' 'mokutil --import' 'and by an unknown one'
build "$file" name=mtag "${needs[@]}" srcversion=DEF
put $sys/security/lockdown 'none [integrity]'
sees 2 fail lockdown integrity "module's signature" 'nor does lockdown let an unsigned file pass because a module is loaded'

for state in machine unloaded; do
	$state
	build "$file" name=mtag "hooks=$hooks" 'vermagic=6.1.0-1-other SMP'
	status=$([ $state = machine ] && echo 2 || echo 4)
	sees "$status" fail module "loaded; the file is for kernel 6.1.0-1-other, this one is $release|" 'make module KERNEL=' \
		"$state: a file is built for another kernel"
	rm -r "$root/$lib/build"
	sees "$status" fail 'kernel headers' 'cannot be built' 'apt install linux-headers-' "$state: to build it for this one takes headers"
	build "$file" name=mtag "hooks=$hooks"
	sees "$status" fail module "the file is for kernel ?, this one is $release|" 'make module KERNEL=' \
		"$state: a file does not say for which kernel it is"
done
unloaded
build "$file" name=mtag "${needs[@]}"
sees 4 fail module 'not loaded|' 'insmod FILE|' 'a file that is not installed is for insmod'

# What is no module of mtag's is refused, be mtag loaded, installed, or neither. Not all of it modinfo takes for a file.
build "$tmp/other.ko" name=other "${needs[@]}"
echo text >"$tmp/text.ko"
: >"$tmp/empty.ko"
echo text >"$tmp/mtag"
mkfifo "$tmp/pipe.ko"
mkdir "$tmp/dir.ko"
exec 9<>"$tmp/pipe.ko"
for state in machine unloaded; do
	$state
	for bad in /etc/passwd /dev/null "$tmp"/{dir,pipe,other,text,empty}.ko mtag; do
		said=$(cd "$tmp" && timeout 30 "$OLDPWD/build/bin/mtagctl" doctor --root "$root" -m "$bad" 2>&1)
		[ "$? $said" = "2 mtagctl: doctor: '$bad' is no module of mtag's" ]
		ok $? "$state: no module of mtag's: ${bad#"$tmp/"}" || sed 's/^/#   /' <<<"$said"
	done
done
build "$tmp/-k.ko" name=mtag "${needs[@]}"
machine
(cd "$tmp" && timeout 30 "$OLDPWD/build/bin/mtagctl" doctor --root "$root" -m -k.ko) >/dev/null 2>&1
ok $? "a file's name may look like an option of modinfo's"

# That modinfo cannot be run is not the same as that it knows nothing.
mkdir "$tmp/bin"
: >"$tmp/bin/modinfo"
search=$tmp/bin
build "$file" name=mtag "${needs[@]}"
sees 0 warn module 'loaded, version 1.2.3; modinfo, which would tell what the file is, is missing|' 'apt install kmod' \
	'without modinfo it says that the file was not read'
unloaded
sees 4 fail module 'modinfo, which would tell' 'apt install kmod' 'nor is it when nothing is loaded'
said=$(timeout 30 env PATH="$search" build/bin/mtagctl doctor --root "$root" -m "$tmp/dir.ko" 2>&1)
[ "$? $said" = "2 mtagctl: doctor: '$tmp/dir.ko' is no module of mtag's" ]
ok $? 'a directory is no module, to tell that takes no modinfo'
given=() search=$PATH

$ctl doctor --root "$root" | awk 'length > 80 {bad = 1} END {exit bad}'
ok $? 'the text fits 80 columns'
rm -rf "$root"
mkdir "$root"
sees 4 fail module '' '' 'an empty directory is no machine'
for dir in "$root/none" "$root/file"; do
	touch "$root/file"
	said=$($ctl doctor --root "$dir" 2>&1)
	[ $? = 2 ] && [[ $said = "mtagctl: doctor: cannot look below '$dir': No"*' directory' || $said = *"'$dir': Not a directory" ]]
	ok $? "what cannot be looked below is told: ${said##*: }"
done
echo "1..$n"
exit $failed
