/* SPDX-License-Identifier: GPL-2.0 */
/* The rules of merge: regular expressions that rename processes and tags. */
#ifndef MTAGCTL_OFFLINE_RULES_H
#define MTAGCTL_OFFLINE_RULES_H

struct rules;

/* What a rule is for. */
enum subject { RULE_COMM, RULE_TAG };

/* Reads a file of rules, or for "-" standard input. Returns 0, or an exit status after an error message that names the line. */
int rules_open(struct rules **rules, const char *path);
void rules_close(struct rules *rules);

/*
 * The name after all rules, each applied to what the one before made; *@line: of the last that matched, or 0. NULL, and
 * errno says why: E2BIG, it is too long, or ENOMEM.
 */
char *rules_apply(const struct rules *rules, enum subject subject, const char *name,
		  unsigned long *line);

#endif
