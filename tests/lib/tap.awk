# SPDX-License-Identifier: GPL-2.0
# Judges one TAP stream. awk -v status=EXIT -f tap.awk FILE prints "PASSED FAILED SKIPPED", then a line
# for each thing that is wrong or was skipped. What does not add up is a failure too: no plan, a plan
# that differs from what was run, a bad exit status with nothing "not ok".
function wrong(what) { failed++; notes = notes "\n" what }

{ sub(/\r$/, "") }
/^1\.\.[0-9]+/ {
	planned = substr($1, 4) + 0
	have_plan = 1
	if (planned == 0 && match($0, /# *[Ss][Kk][Ii][Pp]/)) {
		skipped++
		notes = notes "\nskipped all: " substr($0, RSTART + RLENGTH + 1)
	}
}
/^(not )?ok([ \t]|$)/ {
	run++
	if (match($0, /# *[Ss][Kk][Ii][Pp]/)) {
		skipped++
		notes = notes "\nskipped: " $0
	} else if ($1 == "ok" || /# *[Tt][Oo][Dd][Oo]/)
		passed++
	else
		wrong($0)
}
/^Bail out!/ { bailed = 1; wrong($0) }
END {
	if (!have_plan && !bailed)
		wrong("no plan" (run ? "" : " and no result"))
	else if (have_plan && run != planned && !bailed)
		wrong("planned " planned ", ran " run)
	if (status == 124 || status == 137)
		wrong("time limit, or killed (exit status " status ")")
	else if (status != 0 && !failed)
		wrong("exit status " status)
	print passed + 0, failed + 0, skipped + 0 notes
}
