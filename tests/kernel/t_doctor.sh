#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each obstacle is put in the module's way for real; mtagctl doctor names it, and doing what it advises
# removes it. (What Debian's kernels cannot be made to lack, tests/unit/ctl_doctor.sh makes up.)
# vm: stock=1 short=6.1 because="it is mtagctl that says so; no kernel of our own has lockdown and signed modules" group=doctor module=linger_ms=2000 timeout=600
. tests/kernel/lib.sh
tmp=$(mktemp -d)
mount -t securityfs none /sys/kernel/security
release=$(uname -r)
build=/lib/modules/$release/build
# Of some kernels the harness has the headers where this link does not lead.
[ -e "$build/Makefile" ] || ln -sfn "$(. /run/vm/conf && realpath "$kernel/lib/modules/$release/build")" "$build"
# Without function tracing kprobes do, but not there.
realtime='' slower=warn
[[ $(uname -v) != *PREEMPT_RT* ]] || realtime=1 slower=fail

# look OPTION…: what doctor says now.
look() {
	mtagctl -j doctor "$@" >"$tmp/said"
	status=$?
}
# field CHECK KEY
field() { jq -r --arg check "$1" --arg key "$2" '.[] | select(.check == $check) | .[$key]' "$tmp/said"; }
# sees EXIT STATUS CHECK DETAIL NAME: of what it said last; DETAIL is a part of it.
sees() {
	local entry said_status said_advice said_detail
	entry=$(jq -r --arg check "$3" '.[] | select(.check == $check) | .status, .advice // "", .detail' "$tmp/said")
	{
		read -r said_status
		read -r said_advice
		read -rd '' said_detail
	} <<<"$entry"
	[ "$status $said_status" = "$1 $2" ] && [[ $said_detail == *"$4"* ]] && { [ "$2" = ok ] || [ -n "$said_advice" ]; }
	ok $? "$5" || jq -c '.[]' "$tmp/said" | sed "s/^/#   exit $status: /"
}
# do_as_told CHECK PATTERN: the command in its advice that matches.
do_as_told() {
	local command
	command=$(field "$1" advice | grep -oE "$2")
	echo "# $1 advises: $command"
	[ -n "$command" ] && (eval "$command") >/dev/null
}
# refused NAME WHY [FILE]: the module does not load; insmod says why.
refused() {
	local said
	said=$(insmod "${3:-$MTAG_MODULE}" 2>&1) && { unload; ok 1 "$1"; return; }
	[[ $said == *"$2"* ]]
	ok $? "$1" || echo "#   $said"
}

look
is "$status" 0 "a fit kernel is fit"
is "$(jq -r '.[] | select(.status == "fail") | .check' "$tmp/said")" "" "nothing fails"
is "$(jq -r '[.[] | keys == ["advice", "check", "detail", "status"]] | all' "$tmp/said")" true "the keys are as documented"

# Nothing is fit without the module …
unload
look -m "$MTAG_MODULE"
sees 4 fail netlink 'no family "mtag"' "the netlink family is absent"
sees 4 fail module 'not loaded' "as the module is not loaded"
sees 4 ok symbols 'all ' "it says of the module's file that its functions are there"
sees 4 ok 'function tracing' 'all ' "and traceable"
sysctl -qw kernel.kptr_restrict=2
# A directory that user nobody can enter, which the checkout need not be.
open=$(mktemp -d)
chmod 755 "$open"
cp "$(command -v mtagctl)" "$MTAG_MODULE" "$open"
setpriv --reuid 65534 --clear-groups "$open/mtagctl" -j doctor -m "$open/mtag.ko" >"$tmp/said"
status=$?
sees 4 ok symbols 'all ' "user nobody sees that too"
rm -rf "$open"
sysctl -qw kernel.kptr_restrict=0

# … which may not even be built, for want of headers.
look
sees 4 fail module 'not built' "the module is not built"
sees 4 ok 'kernel headers' installed "headers are there"
mv "$build" "$build.hidden"
look
sees 4 fail 'kernel headers' 'not installed' "headers are missing"
[[ $(field 'kernel headers' advice) == *"apt install linux-headers-"* ]]
ok $? "it says which package has them"
mv "$build.hidden" "$build"

# Where dkms puts it. From here on no other module is known: to look at all of them takes minutes.
mkdir -p "/lib/modules/$release/updates/dkms"
cp "$MTAG_MODULE" "/lib/modules/$release/updates/dkms/" &&
	depmod "$release" "/lib/modules/$release/updates/dkms/mtag.ko"
look
sees 4 fail module 'not loaded' "an installed module is found"
do_as_told module 'modprobe mtag'
look
sees 0 ok module loaded "modprobe mtag, as it advises, and all is well"

# Tracing is switched off.
unload
if sysctl -qw kernel.ftrace_enabled=0; then
	refused "with tracing switched off the module does not load" 'busy'
	look
	sees 4 fail 'ftrace switch' 'switched off' "tracing is switched off"
	sees 4 fail module 'ftrace refused the hooks' "it quotes what the module said"
	do_as_told 'ftrace switch' 'sysctl .*'
	check "switched on, as it advises, the module loads" load
	look
	sees 0 ok 'ftrace switch' '' "and tracing is on"
	unload
else
	skip "with tracing switched off the module does not load (this kernel does not let it be switched off)"
fi

echo 0 >/sys/kernel/debug/kprobes/enabled
look
sees 4 warn 'kprobes switch' 'switched off' "kprobes are switched off"
check "the module loads without, as long as functions are traced" load
unload
do_as_told 'kprobes switch' 'echo .*'
look
sees 4 ok 'kprobes switch' on "kprobes are on, as it advises"
if [ -n "$realtime" ]; then
	load force_kprobes=1 2>/dev/null
	look
	sees 4 fail module 'no kprobes on PREEMPT_RT' "with PREEMPT_RT it quotes why kprobes will not do"
	load
else
	check "it can do by kprobes alone" load force_kprobes=1
	look
	sees 0 warn hooks 'by kprobes' "which cost more"
	echo 0 >/sys/kernel/debug/kprobes/enabled
	look
	sees 2 fail 'kprobes switch' 'no hook fires' "kprobes are switched off beneath the module"
	echo 1 >/sys/kernel/debug/kprobes/enabled
fi

umount -l /sys/kernel/tracing
umount -l /sys/kernel/debug
look
sees 0 warn debugfs 'not mounted' "debugfs is not mounted"
sees 0 warn tracefs 'not mounted' "tracefs is not mounted"
do_as_told debugfs 'mount .*'
do_as_told tracefs 'mount .*'
look
sees 0 ok debugfs mounted "debugfs is mounted, as it advises"
sees 0 ok tracefs mounted "so is tracefs"
test -r $debug/health
ok $? "and mtag's files are there"
umount /sys/kernel/security
look
sees 0 warn lockdown 'cannot be seen' "lockdown cannot be seen"
do_as_told lockdown 'mount .*'
look
sees 0 ok lockdown off "securityfs is mounted, as it advises"

# A module that needs a function which this kernel does not have: the first of its list, misspelt.
unload
function=$(modinfo -F hooks "$MTAG_MODULE" | cut -d ' ' -f 1)
LC_ALL=C sed "s/$function/${function%?}_/g" "$MTAG_MODULE" >"$tmp/other.ko"
refused "a module does not load whose function was renamed" '' "$tmp/other.ko"
look -m "$tmp/other.ko"
sees 4 fail symbols "${function%?}_" "a function is inlined or renamed"
sees 4 fail module "${function%?}_" "it quotes the module, which names the same"
sees 4 "$slower" 'function tracing' "${function%?}_" "nor can it be traced"

# Signatures: none, of a key that the kernel does not know; a short one, as making a long one takes its
# time. (Of one that it does: tests/pkg/t_signing.sh)
sign() { # NAME FILE: the module, signed by a new key of that name, as dkms does it.
	cp "$MTAG_MODULE" "$2"
	openssl req -new -x509 -nodes -days 2 -subj "/CN=$1" -newkey rsa:1024 -keyout "$tmp/key" \
		-outform DER -out "$tmp/cert" 2>/dev/null
	"$build/scripts/sign-file" sha256 "$tmp/key" "$tmp/cert" "$2"
}
check "a module is signed" sign 'A key of nobody' "$tmp/signed.ko"
is "$(modinfo -F signer "$tmp/signed.ko")" 'A key of nobody' "modinfo shows whose key"
look -m "$tmp/signed.ko"
sees 4 ok 'module signature' 'A key of nobody' "doctor too; not enforced, any will do"
insmod "$tmp/signed.ko"
ok $? "it loads"
unload

echo integrity >/sys/kernel/security/lockdown
refused "under lockdown an unsigned module is refused" 'not permitted'
look -m "$MTAG_MODULE"
sees 4 fail lockdown integrity "lockdown is in the way"
sees 4 fail 'module signature' 'not signed' "as the module is not signed"
refused "so is one signed by an unknown key" 'not permitted' "$tmp/signed.ko"
look -m "$tmp/signed.ko"
sees 4 fail 'module signature' 'A key of nobody' "it names the unknown key"
[[ $(field 'module signature' advice) == 'mokutil --import '* ]]
ok $? "and how it becomes known"

echo 1 >/sys/module/module/parameters/sig_enforce
refused "where signatures are enforced, an unsigned module is refused" 'rejected'
refused "so is one signed by an unknown key, there" '' "$tmp/signed.ko"
look -m "$MTAG_MODULE"
sees 4 fail 'module signature' 'not signed' "the module is not signed"
name=$(grep -m 1 -o ' Build time [^:]*' /proc/keys)
sign "${name# }" "$tmp/false.ko"
refused "nor does the name of a known key help" '' "$tmp/false.ko"
look -m "$tmp/false.ko"
sees 4 warn 'module signature' "perhaps this one: a key of the name ${name# } is known" "it says that this may be another key"
mtagctl doctor -m "$MTAG_MODULE" | awk 'length > 80 {bad = 1} END {exit bad}'
ok $? "the text fits 80 columns"
rm -rf "$tmp"
done_testing
