// SPDX-License-Identifier: GPL-2.0
/* The rules of merge, a line each: "comm s/REGEX/NAME/" or "tag s/REGEX/NAME/". */
#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "fail.h"
#include "offline/rules.h"

#define GROUPS	   10	/* the whole match and \1 to \9 */
#define NAME_MOST  8192 /* bytes */
#define RULES_MOST 1000

struct rule {
	enum subject subject;
	regex_t regex;
	char *name;
};

struct rules {
	struct rule list[RULES_MOST];
	size_t n;
};

/* Compiles s/REGEX/NAME/, with any character for /. Returns what is wrong with it, or NULL. */
static const char *parse_rule(struct rule *rule, char *text, char *why, size_t size)
{
	char *regex = text + 2, *name, *end, mark = text[1];
	int err;

	if (text[0] != 's' || !mark || isalnum((unsigned char)mark) || mark == '\\')
		return "after comm or tag comes s/REGEX/NAME/";
	name = strchr(regex, mark);
	end = name ? strchr(name + 1, mark) : NULL;
	if (!end || end[1])
		return "it has three of the character behind s, the last at the end of the line";
	*name++ = '\0';
	*end = '\0';
	err = regcomp(&rule->regex, regex, REG_EXTENDED);
	if (err) {
		regerror(err, &rule->regex, why, size);
		return why;
	}
	rule->name = strdup(name);
	if (rule->name)
		return NULL;
	regfree(&rule->regex);
	return "out of memory";
}

static const char *parse_line(struct rules *rules, char *line, char *why, size_t size)
{
	struct rule *rule = &rules->list[rules->n];
	size_t length = strlen(line), word;
	const char *wrong;

	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return NULL;
	if (rules->n == RULES_MOST)
		return "more than 1000 rules";
	word = strcspn(line, " \t");
	if (word == 4 && !strncmp(line, "comm", word))
		rule->subject = RULE_COMM;
	else if (word == 3 && !strncmp(line, "tag", word))
		rule->subject = RULE_TAG;
	else
		return "a rule begins with comm or tag";
	wrong = parse_rule(rule, line + word + strspn(line + word, " \t"), why, size);
	rules->n += !wrong;
	return wrong;
}

int rules_open(struct rules **out, const char *path)
{
	_cleanup_(freep) char *line = NULL;
	const char *wrong = NULL;
	FILE *file = fopen(path, "re");
	unsigned long number = 0;
	size_t room = 0;
	char why[256];

	if (!file) {
		fail_print("cannot open the rules '%s': %s", path, strerror(errno));
		return CTL_REFUSED;
	}
	*out = calloc(1, sizeof(**out));
	while (*out && !wrong && getline(&line, &room, file) >= 0) {
		number++;
		wrong = parse_line(*out, line, why, sizeof(why));
	}
	fclose(file);
	if (!*out)
		return fail_memory();
	if (!wrong)
		return CTL_OK;
	fail_print("%s: line %lu: %s", path, number, wrong);
	return CTL_REFUSED;
}

void rules_close(struct rules *rules)
{
	for (size_t i = 0; rules && i < rules->n; i++) {
		regfree(&rules->list[i].regex);
		free(rules->list[i].name);
	}
	free(rules);
}

/* The name with what matched replaced; \1 to \9 are the groups of the expression, & is no group. */
static char *replace(const struct rule *rule, const char *name, const regmatch_t *groups)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fwrite(name, 1, (size_t)groups[0].rm_so, out);
	for (const char *p = rule->name; *p; p++) {
		const regmatch_t *group;

		if (*p != '\\' || !p[1]) {
			fputc(*p, out);
			continue;
		}
		p++;
		if (*p < '1' || *p > '9') {
			fputc(*p, out);
			continue;
		}
		group = &groups[*p - '0'];
		if (group->rm_so >= 0)
			fwrite(name + group->rm_so, 1, (size_t)(group->rm_eo - group->rm_so), out);
	}
	fputs(name + groups[0].rm_eo, out);
	if (!fclose(out) && size <= NAME_MOST)
		return text;
	free(text);
	return NULL;
}

char *rules_apply(const struct rules *rules, enum subject subject, const char *name, bool *matched)
{
	char *now = strdup(name);

	*matched = false;
	for (size_t i = 0; i < rules->n && now; i++) {
		const struct rule *rule = &rules->list[i];
		regmatch_t groups[GROUPS];
		char *next;

		if (rule->subject != subject || regexec(&rule->regex, now, GROUPS, groups, 0))
			continue;
		*matched = true;
		next = replace(rule, now, groups);
		free(now);
		now = next;
	}
	return now;
}
