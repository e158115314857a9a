#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Spelling, and files that have no place in the repository.
cd "$(dirname "$(realpath "$0")")/../.." || exit
command -v codespell >/dev/null || { echo "1..0 # SKIP no codespell"; exit; }
echo 1..1
# Words that are names here, separated by commas.
words='mtag,ba,te,fo,numer,creat,mapp,nd,crate'
if out=$(git ls-files -z -- ':!LICENSES' | xargs -0 -r codespell --ignore-words-list "$words" 2>&1); then
	echo "ok 1 - no misspelt word"
else
	echo "not ok 1 - no misspelt word"
	sed 's/^/# /' <<<"$out"
	exit 1
fi
