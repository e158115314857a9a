#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kmod/dkms.sh, which the package's scripts and make dkms call: a module that has counted anything is not
# replaced or removed behind anybody's back.
# vm: short=6.1,7.3 because="dkms and kmod are the same on all" group=plain module=linger_ms=2000 mem=2G timeout=600
. tests/kernel/lib.sh
log=/tmp/dkms.log
dkms() { kmod/dkms.sh "$@" >$log 2>&1; }
says() { grep -qe "$1" $log || { cat $log; false; }; }
loaded() { [ -d /sys/module/mtag ]; }
not() { ! "$@"; }
running() { cat /sys/module/mtag/srcversion; }

# publish SRCVERSION: where modprobe finds the module, said to be another build.
publish() {
	mkdir -p "$modules/updates/dkms"
	sed "s/srcversion=$built/srcversion=$1/" "$MTAG_MODULE" >"$modules/updates/dkms/mtag.ko"
	depmod
}
hold() {
	coproc HOLD { exec mtagctl run -- sh -c 'echo; read -r line'; }
	read -rt 60 _ <&"${HOLD[0]}"
}
release() {
	echo >&"${HOLD[1]}"
	wait "$HOLD_PID"
	until_true 30 eval 'visit_cpus; [ "$(health tracked)" = 0 ]'
}

# The kernel's own thousands of modules would only cost depmod minutes.
modules=/lib/modules/$(uname -r)
mkdir -p "$modules"
mount -t tmpfs tmpfs "$modules" || bail "no tmpfs"
touch "$modules"/modules.{order,builtin}
built=$(modinfo -F srcversion "$MTAG_MODULE")
other=${built//[0-9]/F}
unload && load || bail "the module does not load anew"
publish "$other"

dkms load
is "$(running)" "$other" "a module that has counted nothing is replaced"
check "which is said" says "loaded in place of another build"
dkms load
ok $? "the same build is left alone"
is "$(cat $log)" "" "without a word"

publish "$built"
hold
dkms load
ok $? "a module that counts is not a failure"
is "$(running)" "$other" "it stays"
check "it says which processes are counted" says "installed; a process is counted by it"
check "and that nothing is lost" says "It counts on and nothing is lost"
dkms unload
ok $? "that it is in use is no failure of a removal"
check "it stays" loaded
check "and that is said" says "stays loaded, as it is in use: a process is counted by it"

release
dkms load
is "$(running)" "$other" "what has been counted is not lost either, once the process has ended"
dkms unload
check "a module that counts nothing is unloaded" not loaded
check "which is said" says "unloaded"
dkms unload
ok $? "there is nothing to do when it is not loaded"
dkms load
is "$(running)" "$built" "load loads what was installed"
check "and says so" says "mtag: loaded"

publish "$other"
mkdir -p /run/modprobe.d
echo 'install mtag false' >/run/modprobe.d/refused.conf
dkms load
is $? 1 "a build that this system refuses to load is a failure"
check "and is said to be, as the one before it is gone" says "refuses to load it; the build before it"
rm /run/modprobe.d/refused.conf

rm -r "$modules/updates/dkms"
depmod
dkms load
is $? 1 "a module that is not there is a failure"
check "and is said to be" says "not built for the running kernel"
umount "$modules"
load
ok $? "the module that was there before loads again"
done_testing
