# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by tests/run-all: which tests run, in which VMs, in which order.

# The files of tests/vm/kernels: kernel_file[NAME:VARIABLE]. They are asked for thousands of times.
declare -A kernel_file=()
while IFS='=:' read -r file variable value; do
	kernel_file[${file##*/}:$variable]=$value
done < <(grep -H '^[a-z_]*=' tests/vm/kernels/*)
# kernel_says NAME VARIABLE: sets `said` to what tests/vm/kernels/NAME sets it to, or to nothing.
kernel_says() { said=${kernel_file[$1:$2]:-}; }
# all_kernels: those that the kernel tests run on.
all_kernels() {
	local name said
	for name in $(printf '%s\n' tests/vm/kernels/* | sed 's|.*/||' | sort -V); do
		kernel_says "$name" kernel_unfit
		[ -z "$said" ] || continue
		kernel_says "$name" kernel_base
		[ -n "$long" ] || [ -z "$said" ] || continue
		kernel_says "$name" kernel_check
		[ -n "$long" ] || case $said in
			long) continue ;;
			brief) [ -z "$pattern" ] || continue ;;
		esac
		echo "$name"
	done
}

# matches TEST: was it asked for?
matches() { [[ $1 =~ $pattern ]]; }

# plan_vms: a directory $tmp/vm/N with `options` and `list` for each VM, as tests/run-all describes them.
plan_vms() {
	local source name command line n=0 machine key each why said slow memory threads parameters
	# The words of a test's vm: line: parse sets them, and what is called here reads them.
	local group mem cpus dimm icount module append thread timeout args only_long only since not also core brief short stock settings
	local because needs repairs
	declare -A dirs=()
	while IFS=$'\t' read -r source line; do
		matches "$source" || continue
		name=${source##*/} name=${name%.*}
		command=$source
		[ "${source##*.}" = sh ] || command=build/tests/kernel/$name
		parse "$line" || continue
		# What a kernel costs as Debian boots it is for the core alone, but with --long.
		[ "$group" != default ] || [ -n "$long$core" ] || group=plain
		for each in $kernels; do
			{ long_enough "$each" && brief_enough "$each"; } || continue
			if left_out "$each"; then
				printf '%s\t%s\t%s\n' "$name" "$each" "$why" >>"$tmp/only"
				continue
			fi
			set_memory "$each" "$mem"
			set_threads "$each" "$thread"
			set_parameters "$each" "$module"
			machine="--kernel $each --mem $memory --cpus $cpus${dimm:+ --dimm $dimm}${icount:+ --icount}"
			key="$machine|$parameters|$append|$threads|$group"
			if [ -n "$kept" ]; then
				kept_name "$command${args:+ $args}" "$each" "$key"
				! take_kept "$command${args:+ $args} [$each:$group]" "$kept_at" || continue
			fi
			if [ -z "${dirs[$key]:-}" ]; then
				dirs[$key]=$tmp/vm/$((${#dirs[@]} + 1))
				mkdir -p "${dirs[$key]}"
				printf '%s\n' "kernel=$each" "group=$group" "machine=$machine" "module=${parameters//,/ }" \
					"append=${append//,/ }" "thread=$threads" "how=$key" >"${dirs[$key]}/options"
			fi
			[ -z "$needs" ] || echo "$needs $each" >>"$tmp/needs"
			n=$((n + 1))
			set_slow "$each"
			printf '%s\t%s\t%s\t%s\t%s\n' "$n-$name" $((timeout * 2 * slow)) "$repairs" "$settings" \
				"$command${args:+ $args}" >>"${dirs[$key]}/list"
		done
	done < <(vm_lines)
}

# vm_lines: "SOURCE<tab>LINE" for each "vm: LINE" of the tests, or with an empty LINE for a source without any.
vm_lines() {
	local sources
	mapfile -t sources < <(compgen -G 'tests/kernel/t_*.c' | sort; compgen -G 'tests/kernel/t_*.sh' | sort)
	[ ${#sources[@]} = 0 ] || awk '
		FNR == 1 {
			if (source != "")
				print source "\t"
			source = FILENAME
		}
		FNR <= 40 && match($0, "^[ /*#]*vm: *") {
			line = substr($0, RLENGTH + 1)
			sub(/ *\*\/ *$/, "", line)
			if (line != "") {
				print FILENAME "\t" line
				source = ""
			}
		}
		END {
			if (source != "")
				print source "\t"
		}' "${sources[@]}"
}

# option DIR NAME: what the options of a VM that was planned say.
option() { sed -n "s/^$2=//p" "$1/options"; }

# named KERNEL BASE LIST: is it in the list, or the one that it is made from?
named() { [[ ,$3, == *,"$1",* ]] || { [ -n "$2" ] && [[ ,$3, == *,"$2",* ]]; }; }

# unsuited KERNEL BASE: does the "vm:" line say that the test cannot run there? Sets `why`.
unsuited() {
	why="${only:+only ${only//,/, }: }${since:+since $since: }${not:+not $not: }$because"
	[ -z "$stock" ] || [ -z "$2" ] || return 0
	[ -z "$only" ] || named "$1" "$2" "$only" || return 0
	[ -z "$not" ] || [[ $1 != *-"$not" ]] || return 0
	[ -n "$since" ] && before "${1%%-*}" "$since"
}

# before A B: is the version A, of two numbers, before B?
before() { [ $((${1%.*} * 1000 + ${1#*.})) -lt $((${2%.*} * 1000 + ${2#*.})) ]; }

# left_out KERNEL: is the test kept from it, by the "vm:" line or by what of `make check` runs there? Sets `why`.
left_out() {
	local base
	kernel_says "$1" kernel_base
	base=$said
	! unsuited "$1" "$base" || return 0
	[ -z "$long$pattern${MTAG_KERNELS:-}" ] || return 1
	if [ -n "$short" ]; then
		why="make check-long alone: $because"
		! named "$1" "$base" "$short"
		return
	fi
	kernel_says "$1" kernel_check
	case $said in
	'' | brief) return 1 ;;
	core) [ -z "$core" ] ;;
	esac || return 1
	why='make check-long alone: neither the core nor what may race there'
	! named "$1" "$base" "$also"
}

# long_enough KERNEL: is what the "vm:" line says about long forms true of it?
long_enough() {
	case $only_long in
	'') ;;
	1) kernel_says "$1" kernel_base; [ -z "$said" ] ;;
	*) [[ ,$only_long, == *,"$1",* ]] ;;
	esac
}

# in_brief KERNEL: does `make check` run the core there in a single VM?
in_brief() {
	local said
	[ -z "$long$pattern${MTAG_KERNELS:-}" ] || return 1
	kernel_says "$1" kernel_check
	[ "$said" = brief ]
}

# brief_enough KERNEL: is the "vm:" line for that VM, on a kernel that has one, or else for another?
brief_enough() { if [ -n "$brief" ]; then in_brief "$1"; else ! in_brief "$1"; fi; }

# set_slow KERNEL: sets `slow` to how much longer things take there.
set_slow() {
	kernel_says "$1" kernel_slow
	slow=${said:-1}
}

# set_memory KERNEL SIZE: sets `memory` to how much a machine of that size gets there.
set_memory() {
	memory=$2
	kernel_says "$1" kernel_more
	[ -z "$said" ] || memory=$(($(numfmt --from=iec "$2") / 1048576 + said))M
}

# set_threads KERNEL THREAD: sets `threads` to how a test whose line says thread=THREAD runs its CPUs there.
set_threads() {
	threads=$2
	[ -z "$long$pattern${MTAG_KERNELS:-}" ] || return 0
	kernel_says "$1" kernel_thread
	threads=${said:-$2}
}

# set_parameters KERNEL LIST: sets `parameters` to those that the module is loaded with there, and `settings` to those that
# may change later, as tests that share a VM have their own. No sanitizer sees what direct calls run (kmod/direct.c); the
# same code behind ftrace_ops is instrumented.
set_parameters() {
	local word
	parameters=linger_ms=3600000,count_down=1 settings=''
	for word in ${2//,/ }; do
		case $word in
		linger_ms=* | count_down=* | max_stacks=* | unwind_kb=*) settings+="${settings:+ }$word" ;;
		*) parameters+=,$word ;;
		esac
	done
	kernel_says "$1" kernel_base
	[ -z "$said" ] || [[ $2 =~ (direct|force_[a-z]*)= ]] || parameters+=,direct=0
}

# parse LINE: a "vm:" line into the variables of plan_vms; false when the test is left out.
parse() {
	local word words=" $1"
	group=default mem=2G cpus=2 dimm='' icount='' module='' append='' thread=single timeout=300 args='' needs='' repairs=0
	only_long='' only='' since='' not='' also='' core='' brief='' short='' stock='' because=''
	# Where a test does not want it otherwise the hooks stay in: tests/run-all says why.
	module=linger_ms=3600000
	if [[ $words == *\ args=* ]]; then args=${words#* args=} words=${words%% args=*}; fi
	if [[ $words =~ ^(.*)\ because=\"([^\"]*)\"(.*)$ ]]; then
		words=${BASH_REMATCH[1]}${BASH_REMATCH[3]} because=${BASH_REMATCH[2]}
	fi
	for word in $words; do
		case $word in
		icount=*) icount=${word#*=} cpus=1 ;;
		long=*) only_long=${word#*=} ;;
		group=* | mem=* | cpus=* | dimm=* | module=* | append=* | thread=* | timeout=* | only=* | since=* | not=* | also=* | core=* | brief=* | short=* | stock=* | needs=* | repairs=*)
			printf -v "${word%%=*}" %s "${word#*=}"
			;;
		*) fail "$source" "unknown word '$word' in its vm: line; see tests/run-all"; return 1 ;;
		esac
	done
	# Counting down finds more than comparing sums, of all processes that end in a test.
	[[ $module == *count_down=* ]] || module+=,count_down=1
	# In more memory compaction takes three times as long.
	[ -z "$brief" ] || group=brief mem=1G
	words="${only//,/ } ${also//,/ } ${short//,/ }"
	[ "$only_long" = 1 ] || words+=" ${only_long//,/ }"
	for word in $words; do
		[ -f "tests/vm/kernels/$word" ] || { fail "$source" "unknown kernel '$word' in its vm: line"; return 1; }
	done
	[[ $thread == @(single|multi) ]] || { fail "$source" "thread=$thread in its vm: line: single or multi?"; return 1; }
	[ -z "$only$since$not$short$stock" ] || [ -n "$because" ] ||
		{ fail "$source" 'only=, since=, not=, short= or stock= without because="…"'; return 1; }
	[[ $repairs =~ ^([0-9]+|any)$ ]] || { fail "$source" "repairs=$repairs in its vm: line: a number, or any?"; return 1; }
	[ "$repairs" != any ] || [ -n "$because" ] || { fail "$source" 'repairs=any without because="…"'; return 1; }
	[ -z "$only_long" ] || [ -n "$long" ]
}

# longest_first THREAD: the directories of the VMs that are run so, in an order in which both lanes end at
# about the same time. How long a test takes is what it took last time, or else part of its limit.
longest_first() {
	local dir kernel
	for dir in "$tmp"/vm/*/; do
		[ -s "$dir/list" ] && [ "$(option "$dir" thread)" = "$1" ] || continue
		kernel=$(option "$dir" kernel)
		touch "$cache/seconds"
		awk -F '\t' -v kernel="$kernel" -v dir="${dir%/}" 'FILENAME == ARGV[1] {took[$2, $3] = $1; next}
			{sum += (kernel, $5) in took ? took[kernel, $5] : $2 / 10} END {print sum "\t" dir}' \
			"$cache/seconds" "$dir/list"
	done | sort -rn | cut -f 2
}

# remember_seconds: for longest_first.
remember_seconds() {
	awk -F '\t' -v OFS='\t' 'FILENAME == ARGV[1] {took[$2 OFS $3] = $1; next} $5 != "" && !$2 {took[$5 OFS $7] = $4}
		END {for (test in took) print took[test], test}' "$cache/seconds" "$tmp/all" >"$cache/seconds.$$" &&
		mv "$cache/seconds.$$" "$cache/seconds"
}
