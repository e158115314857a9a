# SPDX-License-Identifier: GPL-2.0
# awk -F '\t' -f judge.awk KEPT ROWS: judges the rows that bench/run describes: "name<tab>measured<tab>budget<tab>
# within<tab>kept<tab>growth<tab>note". Within the budget: ok or OVER. Against what was kept of the row: ok, GROWN, or NEW
# where nothing was. A field that would be empty is "-". What work costs without mtag (": none") is not judged: no change
# of ours makes it dearer, and the kernel's own forks have differed by 8 % from boot to boot.
#
# Half an instruction a page is what the call that touches or unmaps 256 of them costs by itself. What is not counted
# in instructions is compared as it is.
#
# A row has grown if it is more than what was kept by 3 %, and by more than two runs of the same differ by: an
# instruction, and a 4,000th of what the work costs without mtag; on later kernels a 50th, as there it depends more on
# where pages happen to lie. A difference that was kept below 0 was chance, and counts as none. Where a process begins and ends that is 3 % of the whole, or 6,
# as what it finds in the kernel's caches is left to chance; and half a percent of a whole program, which has many such.
function dash(field) { return field == "" ? "-" : field }
FILENAME == ARGV[1] { kept[$1] = $2; next }
NF < 3 { next }
{
	work = $1
	sub(/: [^:]*$/, "", work)
	if ($1 ~ /: none$/)
		none[work] = $2
	within = growth = "-"
	if ($3 != "")
		within = $2 > $3 + ($1 ~ /percent$|against/ ? 0 : 0.5) ? "OVER" : "ok"
	same = $1 ~ /^fork.* end/ ? 0.03 : 0.00025
	if (ARGV[1] !~ /6\.1\.tsv$/)
		same = $1 ~ /^fork.* end/ ? 0.06 : 0.02
	slack = $1 ~ /percent$/ ? 0.5 : 1 + none[work] * same
	old = $1 in kept ? kept[$1] : ""
	part = 0.03 * (old < 0 ? -old : old)
	more = $2 - (old < 0 ? 0 : old)
	if ($1 !~ /: none$/)
		growth = old == "" ? "NEW" : more > part && more > slack ? "GROWN" : "ok"
	print $1 "\t" dash($2) "\t" dash($3) "\t" within "\t" dash(old) "\t" growth "\t" dash($4)
}
