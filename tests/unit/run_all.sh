#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tests/run-all promises, shown in a small tree of its own: its host tests are scripts written here, and
# its VMs are a stub.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tree=$tmp/tree
# Neither the cache nor the settings of the run that this test is part of.
export XDG_CACHE_HOME=$tmp/cache
for name in $(compgen -e MTAG_); do unset "$name"; done

# program FILE: an executable script in the tree; its text comes on stdin.
program() {
	mkdir -p "$(dirname "$tree/$1")"
	{ echo '#!/bin/bash'; cat; } >"$tree/$1"
	chmod 755 "$tree/$1"
}

# tree_make: what run-all needs around it.
tree_make() {
	mkdir -p "$tree"/tests/vm/kernels
	cp -r tests/run-all tests/lib "$tree/tests/"
	cp -r .ci "$tree/"
	cp tests/vm/log.sh "$tree/tests/vm/"
	printf '%s\n' 'MAKEFLAGS += --no-builtin-rules' '.PHONY: all kinds check' 'all kinds: ;' \
		'check: ; @tests/run-all' >"$tree/Makefile"
	touch "$tree"/tests/vm/kernels/6.1
	program tests/lib/deps </dev/null
	program tests/vm/run </dev/null
}

# ktest NAME LINE: a kernel test with that vm: line.
ktest() { program "tests/kernel/t_$1.sh" <<<"# vm: $2"; }

# run COMMAND…: in the tree; leaves its output in $tmp/out and its exit status in $status.
run() {
	(cd "$tree" && "$@") >"$tmp/out" 2>&1 </dev/null
	status=$?
}

# says PATTERN NAME
says() {
	grep -qE -e "$1" "$tmp/out"
	ok $? "$2" || sed 's/^/# /' "$tmp/out"
}

tree_make
program tests/unit/below_make.sh <<-'END'
	if compgen -e | grep -E '^(MAKELEVEL|MAKEFLAGS|MFLAGS)$'; then echo 'not ok 1'; else echo 'ok 1'; fi
	echo 1..1
END
run make -j2 CFLAGS=-O1 check
says '^1 passed, 0 failed$' "a test does not notice that it runs below make check"

# ends STATUS LINE NAME: the last run ended with them, and said nothing else of that form.
ends() {
	[ "$status" = "$1" ] && [ "$(tail -n 1 "$tmp/out")" = "$2" ] &&
		[ "$(grep -cE '^[0-9]+ passed, [0-9]+ failed$' "$tmp/out")" = 1 ]
	ok $? "$3" || sed 's/^/# /' "$tmp/out"
}

run .ci/run
ends 0 "1 passed, 0 failed" ".ci/run ends with the summary"
program tests/unit/fails.sh <<<'echo "not ok 1"; echo 1..1'
run .ci/run
ends 2 "1 passed, 1 failed" "after a failure, too, with the exit status of make"
says '^make: .*Error' "the error of make comes before it"
sed -i 's|^check: .*|check: ; @false|' "$tree/Makefile"
run .ci/run
ends 2 "0 passed, 1 failed" "a make that fails before the tests is one failure"

# In place of a VM: a test passes, and says how many repairs its line of the list allows, and how the VM runs its CPUs.
program tests/vm/run <<-'END'
	[[ $* != *--build-only* ]] || exit 0
	dir=${!#}
	while IFS=$'\t' read -r id seconds repairs command; do
		printf '%s\n' 'ok 1' 1..1 "# counts: repairs_$repairs=1 $MTAG_VM_THREAD=1" >"$dir/$id.out"
		: >"$dir/$id.dmesg"
		echo 0 1 >"$dir/$id.status"
	done <"$dir/list"
END
ktest default ''
ktest seven repairs=7
ktest any 'repairs=any because="of nothing"'
run tests/run-all --vm
ends 0 "3 passed, 0 failed" "kernel tests run"
says '^building user space$' "where there is no terminal a long step is one line"
says '^running 3 tests$' "and so are the tests"
! grep -q $'\r' "$tmp/out"
ok $? "there is no progress in place there"
TERM=xterm run script -qec 'stty cols 100; tests/run-all --vm' /dev/null
says $'\r\e\\[K0 of 3 tests done' "on a terminal the progress of the tests is shown in place"
[ "$(tail -n 1 "$tmp/out")" = $'3 passed, 0 failed\r' ]
ok $? "the last line is the same"
is "$(printf '3\t0\t2\t1\t6.1\tt_some\n' | awk -F '\t' -v kernels=6.1 -f tests/lib/table.awk /dev/null - | grep -o '^t_some.*')" \
	"$(printf '%-23s ok 3+2' t_some)" "the table says how many checks were skipped beside those that passed"
run tests/run-all --vm
says '^repairs_0 +1 ' "a test allows no repairs where its vm: line says nothing"
says '^repairs_7 +1 ' "a test allows the repairs of its vm: line"
says '^repairs_any +1 ' "a test allows any number of repairs, for a reason"
ktest any repairs=any
ktest seven repairs=-7
run tests/run-all --vm
says '^FAIL tests/kernel/t_any.sh: repairs=any without because=' "repairs=any wants a reason"
says '^FAIL tests/kernel/t_seven.sh: repairs=-7 ' "repairs= wants a number"

ktest any ''
ktest seven ''
touch "$tree/tests/vm/kernels/6.16"
sed -i '2i [[ $* != *"--kernel 6.16 "* ]] || { echo "vm: Debian'"'"'s archive no longer offers it: linux-6.16"; exit 123; }' \
	"$tree/tests/vm/run"
MTAG_KERNELS=6.1,6.16 run tests/run-all --vm
ends 0 "3 passed, 0 failed" "a kernel that the archive no longer offers is no failure"
says "^\\[1\\] 6.16: Debian's archive no longer offers it: linux-6.16$" "the table says that it does not"
says '^t_any +ok 1 +n/a \[1\]$' "its tests are in the table"
echo kernel_unfit=1 >"$tree/tests/vm/kernels/6.16"
run tests/run-all --vm
ends 0 "3 passed, 0 failed" "a kernel that mtag refuses is not among those that tests run on"
! grep -q '6\.16' "$tmp/out"
ok $? "nor in the table"
MTAG_KERNELS=6.16 run tests/run-all --vm
ends 1 "0 passed, 0 failed" "no test at all is no success"


# ran TEST KERNEL… NAME: the last run ran the test on these kernels.
ran() {
	is "$(sed -n "s|^PASS tests/kernel/t_$1.sh[^[]* \[\(.*\):.*|\1|p" "$tmp/out" | sort -V | paste -sd ' ')" "${*:2:$#-2}" "${!#}"
}
rm "$tree"/tests/{kernel/t_*,unit/*,vm/kernels/6.16}
printf '%s\n' kernel_check=core kernel_thread=single >"$tree/tests/vm/kernels/6.12"
echo kernel_check=core >"$tree/tests/vm/kernels/6.12-rt"
echo kernel_check=brief >"$tree/tests/vm/kernels/6.12-cloud"
ktest plain ''
ktest core 'core=1 thread=multi'
ktest also also=6.12-rt
ktest since 'core=1 since=6.8 because="no folios"'
ktest not 'core=1 not=rt because="no kprobes"'
ktest brief 'brief=1 group=ignored args=a word'
run tests/run-all --vm
says '^multi +2 +1 +- +- +1$' "a test that wants a thread for each CPU has them but where the kernel's file says single"
ran plain 6.1 "an ordinary test runs where all do"
ran core 6.1 6.12 6.12-rt "one of the core on other kernels, too, but not on those for which a few will do"
ran brief 6.12-cloud "a line with brief=1 runs on such a kernel alone"
says '^PASS tests/kernel/t_brief.sh a word \[6.12-cloud:brief\]' "in the VM that all such lines share, with its arguments"
says '^t_brief +ok 1$' "which has a table of its own"
ran also 6.1 6.12-rt "a test runs on a kernel that its line names"
ran since 6.12 6.12-rt "it runs on no kernel that is older than its line wants"
ran not 6.1 6.12 "it runs on no kernel of a flavour that its line excludes"
run tests/run-all --vm plain
ran plain 6.1 6.12 6.12-rt "a pattern runs it on all but the kernels for which a few will do"
run tests/run-all --vm --long
ran plain 6.1 6.12 6.12-cloud 6.12-rt "make check-long runs it on all"
ran brief "make check-long runs no line with brief=1, but the others of that test"
ran since 6.12 6.12-cloud 6.12-rt "it runs on all that its line wants"

rm "$tree"/tests/{kernel/t_*,vm/kernels/6.12*}
program tests/unit/good.sh <<<'echo "ok 1"; echo 1..1'
echo /build >"$tree/.gitignore"
git -C "$tree" init -q
git -C "$tree" add -A
git -C "$tree" -c user.name=t -c user.email=t@localhost commit -qm 1
run tests/run-all
! grep -q ^KEPT "$tmp/out"
ok $? "the first run keeps nothing of another"
run tests/run-all
ends 0 "1 passed, 0 failed" "a second one ends as the first"
says '^KEPT tests/unit/good.sh ' "what passed is not run again"
run tests/run-all --host
! grep -q ^KEPT "$tmp/out"
ok $? "what is asked for by name is"
program tests/unit/good.sh <<<'echo "not ok 1"; echo 1..1'
run tests/run-all
ends 1 "0 passed, 1 failed" "and so is what has changed"
# kept TEST…: what the last run did not run again.
kept() { is "$(sed -n 's/^KEPT \([^ ]*\).*/\1/p' "$tmp/out" | sort | paste -sd ' ')" "${*:1:$#-1}" "${!#}"; }
ktest typed ''
echo 'bash docs/typed.md' >>"$tree/tests/kernel/t_typed.sh"
ktest narrow ''
echo 'build/tests/abi/narrow' >>"$tree/tests/kernel/t_narrow.sh"
program tests/unit/good.sh <<<'echo "ok 1"; echo 1..1'
program tests/unit/fuzz.sh <<<'echo "ok 1"; echo 1..1'
mkdir "$tree"/{docs,kmod,tests/abi}
tee "$tree"/{docs/typed.md,tests/abi/narrow.c} <<<true >/dev/null
run tests/run-all
run tests/run-all
kept tests/kernel/t_{narrow,typed}.sh tests/unit/{fuzz,good}.sh "kernel tests that passed are not run again"
echo false >"$tree/docs/typed.md"
run tests/run-all
kept tests/kernel/t_narrow.sh tests/unit/fuzz.sh "but one that types what a page says is when that has changed"
echo false >"$tree/tests/abi/narrow.c"
run tests/run-all
kept tests/kernel/t_typed.sh tests/unit/fuzz.sh "and one that runs a program of the ABI's when that has"
echo false >"$tree/kmod/rows.c"
run tests/run-all
kept "" "the fuzzers are when the module has changed, as they have parts of it"
echo 'build/tests/kernel/one && build/tests/kernel/two' >"$tree/tests/kernel/t_calls.sh"
tee "$tree"/tests/kernel/{one.c,two.cpp,three.cpp} <<<"int main;" >/dev/null
is "$(cd "$tree" && awk -f tests/lib/names.awk tests/kernel/{t_calls.sh,*.c,*.cpp} | tr ' ' '\n' | sort | paste -sd ' ')" \
	"t_calls tests/kernel/one.c tests/kernel/t_calls.sh tests/kernel/two.cpp" \
	"a test is made of the programs that it calls, in C or C++"
done_testing
