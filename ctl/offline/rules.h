/* SPDX-License-Identifier: GPL-2.0 */
/* The rules of merge: regular expressions that rename processes and tags. */
#ifndef MTAGCTL_OFFLINE_RULES_H
#define MTAGCTL_OFFLINE_RULES_H

#include <stdbool.h>

struct rules;

/* What a rule is for. */
enum subject { RULE_COMM, RULE_TAG };

/* Reads a file of rules. Returns 0, or an exit status after an error message that names the line. */
int rules_open(struct rules **rules, const char *path);
void rules_close(struct rules *rules);
static inline void rules_closep(struct rules **rules)
{
	rules_close(*rules);
}

/* The name after all rules, each applied to what the one before made; *@matched: one of them matched. */
char *rules_apply(const struct rules *rules, enum subject subject, const char *name, bool *matched);

#endif
