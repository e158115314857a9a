#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the completions of bash, zsh and fish make of words: `mtagctl complete`, and then the shells themselves,
# on a terminal, with the files that `make install` puts where each looks for them.
cd "$(dirname "$(realpath "$0")")/../.." || exit
top=$PWD
golden=$top/tests/unit/ctl_golden/snapshot.jsonl
n=0 failed=0
export LC_ALL=C.UTF-8 PATH=$top/build/bin:$PATH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

ok() { # NAME, after the command that is tested
	local status=$?
	n=$((n + 1))
	[ $status = 0 ] && { echo "ok $n - $1"; return; }
	echo "not ok $n - $1"
	failed=1
	return 1
}
# offers WANT WORD…: of that command line, the words that can come, or the line that says of what kind they are.
offers() {
	local want=$1 got
	shift
	got=$(mtagctl complete -- "$@" 2>/dev/null | sed '1{/^words$/d}; s/\t.*//' | tr '\n' ' ')
	[ "$got" = "$want " ] || [ "$got" = "$want" ]
	ok "mtagctl ${*@Q}: ${want:-nothing}" || echo "# it is $got"
}

offers 'snapshot' sn
offers 'snapshot' -j sn
offers '--pretty' --p
offers 'diff doctor' help d
offers 'table tree' show -f t
offers '-ftable -ftree' show -ft
offers '-jftable -jftree' show -jft
offers '--format=dot' show --format=d
offers '--format --from' show --f
offers 'table json' diff -f ''
offers '--format=json' history --format=j
offers '--format --from' top --f
offers '--sort --sample --statistics' top --s
offers '-h' run -h
offers '' run -j
offers '' merge --s
offers 'files ' show --from ''
offers 'files --from=' show --from=x
offers 'files ' diff one ''
offers 'files ' diff --growth one two three
offers 'files ' merge --rules rules one
offers 'directories ' doctor --root ''
offers '' watch 1 -d ''
offers '12 4711' tree --from "$golden" ''
offers '4711' tree --from="$golden" 47
offers '' tree --from "$golden" --sample 2 ''
offers '' tree --from none ''
offers '' tree --from - ''
offers '' watch 1 x
offers "$$" track $$
offers 'json' stacks -f j
offers 'svg' stacks --combined -f sv
offers 'table json pprof' heap -f ''
offers 'shmem swap' top -s s
offers '--older --output' stacks --o
offers '--stacks' track --st
offers "$$" track --stacks $$
offers 'command 4' run -t a --stacks ''
offers 'command 3' run -t a ''
offers 'command 4' run --tag=a --by-thread -- ls -l
offers '' run -t a/b
offers '--by-thread --by-map' run --by
offers '--by-thread=name --by-thread=tid' run --by-thread=
offers '--by-thread=tid' run --by-thread=t
offers '--heap=exact' run --heap=
offers '' run --stacks=
offers '' nonsense ''
offers "$(mtagctl help | sed -n 's/^  \([a-z][a-z]*\)  *[^ ].*/\1/p' | tr '\n' ' ' | sed 's/ $//')" ''
mtagctl complete -- tree --from "$golden" '' | grep -qP '^4711\tpostgres$'
ok 'a process is offered with its name'

# Each long option of a command's source is in its help in the form that is understood, with a value or without.
options() {
	local file command
	for file in ctl/cmd/*.c; do
		command=${file##*/}
		command=${command%.c}
		# What show and tree share.
		[ "$command" != view ] || command=show
		sed -n 's/.*{"\([a-z-]*\)", \(no\|required\)_argument.*/'"$command"' \1 \2/p' "$file"
	done
	printf '%s\n' {show,tree,top,stacks}\ {from,sample}' required' {show,tree,watch,top,diff,events,audit,history,stacks,heap}' format required'
}
while read -r command option value; do
	mtagctl complete -- "$command" "--$option" | grep -qP "^--$option\t" ||
		echo "$command: help does not describe --$option"
	mtagctl "$command" "--$option" 2>&1 | grep -q 'needs a value' && found=required || found=no
	[ "$found" = "$value" ] || echo "$command: --$option: $found"
	# An option without a value ends nothing: an option may follow. The value of another is not an option.
	case $value in
	no) mtagctl complete -- "$command" "--$option" --hel 2>/dev/null | grep -q '^--help' ;;
	*) ! mtagctl complete -- "$command" "--$option" --hel 2>/dev/null | grep -q '^--help' ;;
	esac || echo "$command: completions do not know whether --$option takes a value"
done < <(options) >"$tmp/wrong"
sed 's/^/# /' "$tmp/wrong"
[ ! -s "$tmp/wrong" ] && [ "$(options | wc -l)" -ge 20 ]
ok 'every option of every command is offered, and known to take a value or none'

# ---- the shells ----
make -s install DESTDIR="$tmp/root" PREFIX=/usr ZSHDIR=/usr/share/zsh/site-functions >"$tmp/log" 2>&1
ok 'make install installs the completions'
share=$tmp/root/usr/share
mkdir "$tmp/home" "$tmp/home/sub" "$tmp/fake"
cp "$golden" "$tmp/home/file.jsonl"
cp "$golden" "$tmp/home/a b.jsonl"
# Tags and processes that the kernel would know; the name of a tag is data to each shell.
cat >"$tmp/fake/mtagctl" <<-'END'
	#!/bin/sh
	case "$*" in
	'complete -- limit '*) printf '%s\n' words '$(touch hacked)/a b	of process 1' ;;
	*) exec /proc/self/fd/9 "$@" ;;
	esac
END
chmod +x "$tmp/fake/mtagctl"
sed -i "s|/proc/self/fd/9|$top/build/bin/mtagctl|" "$tmp/fake/mtagctl"

# A zsh program: types lines into a shell on a terminal, a tab behind each, and has the shell itself say what became
# of the line.
cat >"$tmp/type.zsh" <<-'END'
	zmodload zsh/zpty zsh/datetime zsh/zselect
	# Waits for a text.
	await() {
		local part seen='' end=$((EPOCHREALTIME + 60))
		while ((EPOCHREALTIME < end)); do
			if zpty -rt shell part; then seen+=$part; else zselect -t 2; fi
			[[ $seen != *$1* ]] || { REPLY=$seen; return 0 }
		done
		print -r -- "no answer: ${(V)seen}"
		exit 1
	}
	zpty shell "$1"
	zpty -w shell "$2"
	await READY
	while IFS= read -r line; do
		zpty -nw shell "$line"$'\t\x01'"echo LI''NE "$'\r'
		await LINE
		seen=${REPLY##*LINE }
		while [[ $seen != *$'\r'* && $seen != *$'\n'* ]]; do zpty -r shell part; seen+=$part; done
		print -r -- "${seen%%[$'\r\n']*}"
	done
END

# types SHELL COMMAND SETUP: the lines of the list become what it says. A slash behind a directory is the shell's.
types() {
	local want got name=$1
	local -a env=(env -i "HOME=$tmp/home" "PATH=$tmp/fake:$PATH" TERM=dumb LC_ALL=C.UTF-8 "XDG_DATA_DIRS=$share:/usr/share")
	sed 's/ =>.*//' "$tmp/list" >"$tmp/lines"
	(cd "$tmp/home" && "${env[@]}" timeout 300 zsh -f "$tmp/type.zsh" "$2" "$3" <"$tmp/lines" >"$tmp/got" 2>"$tmp/err")
	paste -d '\n' "$tmp/got" <(sed 's/.*=> *//' "$tmp/list") | while IFS= read -r got && IFS= read -r want; do
		[ "${got%"${got##*[! /]}"}" = "$want" ] || echo "# wanted '$want', got '$got'"
	done >"$tmp/wrong"
	[ "$(wc -l <"$tmp/got")" = "$(wc -l <"$tmp/list")" ] && [ ! -s "$tmp/wrong" ] && [ ! -s "$tmp/err" ]
	ok "$name completes commands, options, formats, processes, files and other programs" ||
		cat "$tmp/wrong" <(sed 's/^/# /' "$tmp/got" "$tmp/err")
	[ ! -e "$tmp/home/hacked" ]
	ok "$name does not run what a tag's name says"
}
cat >"$tmp/list" <<-'END'
	mtagctl sho => mtagctl show
	mtagctl show --form => mtagctl show --format
	mtagctl show -f fol => mtagctl show -f folded
	mtagctl show --format=fol => mtagctl show --format=folded
	mtagctl tree --from file.jsonl 47 => mtagctl tree --from file.jsonl 4711
	mtagctl tree --from fil => mtagctl tree --from file.jsonl
	mtagctl tree --from=fil => mtagctl tree --from=file.jsonl
	mtagctl doctor --root=su => mtagctl doctor --root=sub
	mtagctl doctor --root su => mtagctl doctor --root sub
	mtagctl run -t a -- mtagct => mtagctl run -t a -- mtagctl
	mtagctl limit 1  => mtagctl limit 1 $(touch hacked)/a b
	mtagctl nonsense x => mtagctl nonsense x
END
# What follows run is for the other program's completion, where there is one.
cat >"$tmp/long" <<-'END'
	mtagctl run -t a -- mtagctl sho => mtagctl run -t a -- mtagctl show
	mtagctl run --tag=a:b mtagctl doctor --roo => mtagctl run --tag=a:b mtagctl doctor --root
END
if command -v zsh >/dev/null; then
	types bash 'bash --norc --noprofile -i' "PS1='> '; bind 'set enable-bracketed-paste off'; . $share/bash-completion/completions/mtagctl; echo REA''DY"
	cat "$tmp/long" >>"$tmp/list"
	types zsh 'zsh -f -i' "unsetopt zle_bracketed_paste; PS1='> '; fpath=($share/zsh/site-functions \$fpath); autoload -Uz compinit; compinit -u -D; bindkey -e; echo REA''DY"
	if [ -e /usr/share/bash-completion/bash_completion ]; then
		types 'bash with bash-completion' 'bash --norc --noprofile -i' "PS1='> '; bind 'set enable-bracketed-paste off'; . /usr/share/bash-completion/bash_completion; echo REA''DY"
	fi
	if command -v fish >/dev/null; then
		types fish 'fish --private' "function fish_prompt; echo '> '; end; set fish_greeting; echo REA''DY"
	fi
else
	n=$((n + 1))
	echo "ok $n # SKIP no zsh here, which types in all shells (tests/lib/deps check installs it)"
fi
echo "1..$n"
exit $failed
