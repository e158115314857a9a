# SPDX-License-Identifier: GPL-2.0
# awk -F '\t' -f judge.awk KEPT ROWS: judges the rows that bench/run describes: "name<tab>measured<tab>budget<tab>
# within<tab>kept<tab>growth<tab>note". Within the budget: ok or OVER. Against what was kept of the row: ok, GROWN, or
# NEW where nothing was; and LOST for what was kept of a row that is no longer there. A field that would be empty is "-".
# What work costs without mtag (": none") has no growth: no change of ours makes it dearer, and the kernel's own forks
# have differed by 8 % from boot to boot.
#
# Half an instruction a page is what the call that touches or unmaps 256 of them costs by itself. What is not counted
# in instructions is compared as it is.
#
# A row has grown if it is more than what was kept by 3 %, and by more than two runs of the same differ by (slack). A
# difference that was kept below 0 was chance, and counts as none.
function dash(field) { return field == "" ? "-" : field }
function at_least_0(value) { return value < 0 ? 0 : value }

# What two runs of the same have differed by, as seen in half a dozen of them on each of 6.1 and 7.3; each row is the
# least of two rounds or more. In instructions a page, huge or not, or a call: most by less than 1. On 7.3 the exit of a
# process took up to 8 a page of it more, a copy-on-write up to 5, and an unmapping beside a tracked process 6, 9 or 12.
# On 6.1 1,000 ranges cost up to 6 more in one run than in another. A fork of a whole process finds other things in the
# kernel's caches each time: two builds of the module agree within 40 in the same surroundings, but runs from another
# directory differed by 1,300, and two of the same build from the same one by 1,822. A third is added to all of these. A
# part of a whole program, in percent, has many such. Of a quotient only 3 % count.
function slack(name) {
	if (name ~ /against/)
		return 0
	if (name ~ /percent$/)
		return 0.5
	if (name ~ /^fork, exec/)
		return later ? 30000 : 12000
	if (name ~ /^fork.* end/)
		return later ? 3000 : 2430
	if (name ~ /1,000 ranges: t/ && !later)
		return 8
	if (name ~ /^exit/ && later)
		return 12
	if (name ~ /^copy/ && later)
		return 6
	if (name == "unmap, 4 KiB: untracked" && later)
		return 9
	return 1
}
BEGIN { later = ARGV[1] !~ /(^|\/)6\.1\/[^\/]*$/ }
FILENAME == ARGV[1] { kept[$1] = $2; order[++rows] = $1; next }
NF < 3 { next }
{
	seen[$1]
	within = growth = "-"
	if ($3 != "")
		within = $2 > $3 + ($1 ~ /percent$|against/ ? 0 : 0.5) ? "OVER" : "ok"
	old = $1 in kept ? at_least_0(kept[$1]) : ""
	if ($1 !~ /: none$/)
		growth = old == "" ? "NEW" : $2 - old > 0.03 * old && $2 - old > slack($1) ? "GROWN" : "ok"
	print $1 "\t" dash($2) "\t" dash($3) "\t" within "\t" dash(kept[$1]) "\t" growth "\t" dash($4)
}
END {
	for (i = 1; i <= rows; i++)
		if (!(order[i] in seen))
			print order[i] "\t-\t-\t-\t" kept[order[i]] "\tLOST\t-"
}
