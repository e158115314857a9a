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
#define LINE_MOST  4096
#define RULES_MOST 1000
#define REGEX_MOST 2000 /* what must match, with what is repeated written out */
#define REGEX_DEEP 64	/* groups within each other */

struct rule {
	enum subject subject;
	unsigned long line;
	regex_t regex;
	char *name;
};

struct rules {
	struct rule list[RULES_MOST];
	size_t n;
};

/* Behind the [...] at @p, or at its last character if it does not end. */
static const char *skip_bracket(const char *p)
{
	p += p[1] == '^' ? 2 : 1;
	p += *p == ']';
	for (; *p && *p != ']'; p++) {
		const char end[] = {p[1], ']', '\0'};
		const char *inner =
			*p == '[' && p[1] && strchr(".:=", p[1]) ? strstr(p + 2, end) : NULL;

		p = inner ? inner + 1 : p;
	}
	return *p ? p + 1 : p;
}

/* How often regcomp() copies what is before the {n,m} or + at *@p, which moves behind it. */
static unsigned long copies(const char **p)
{
	unsigned long most = 1;
	char *end;

	if (*(*p)++ == '+')
		return 2;
	while (isdigit((unsigned char)**p) || **p == ',') {
		unsigned long n = most + 1; /* for {n,} */

		if (**p == ',') {
			(*p)++;
		} else {
			n = strtoul(*p, &end, 10);
			*p = end;
		}
		n = n < REGEX_MOST ? n : REGEX_MOST + 1;
		most = n > most ? n : most;
	}
	*p += **p == '}';
	return most;
}

/*
 * What is wrong with a regular expression, for us. regcomp() writes {n,m} and + out, which takes any amount
 * of memory when they are within each other; and \1 within an expression any amount of time. What is no
 * regular expression is left to regcomp().
 */
static const char *refuse_regex(const char *p)
{
	static const char large[] =
		"the expression is too large; use fewer or smaller {n,m}, or more rules";

	unsigned long all[REGEX_DEEP] = {0}, last[REGEX_DEEP] = {0};
	size_t depth = 0;

	while (*p) {
		unsigned long size = 1;

		if (*p == '{' || *p == '+') {
			size = last[depth];
			all[depth] -= size;
			size *= copies(&p);
		} else if (*p == '(') {
			p++;
			if (++depth == REGEX_DEEP)
				return large;
			all[depth] = 1;
			last[depth] = 0;
			continue;
		} else if (*p == ')' && depth) {
			p++;
			size = all[depth--];
		} else if (*p == '[') {
			p = skip_bracket(p);
		} else {
			if (*p == '\\' && isdigit((unsigned char)p[1]))
				return "\\1 to \\9 are for the name, not within the expression";
			p += *p == '\\' && p[1] ? 2 : 1;
		}
		last[depth] = size;
		all[depth] += size;
		if (all[depth] > REGEX_MOST)
			return large;
	}
	return NULL;
}

/* What is wrong with the name that a rule gives, or NULL. */
static const char *refuse_name(const struct rule *rule, const char *name, char *why, size_t size)
{
	for (const char *p = name; *p; p++) {
		if (*p != '\\' || !p[1])
			continue;
		p++;
		if (*p < '1' || *p > '9' || (size_t)(*p - '0') <= rule->regex.re_nsub)
			continue;
		snprintf(why, size, "\\%c in the name, but the expression has %zu groups ( )", *p,
			 rule->regex.re_nsub);
		return why;
	}
	return NULL;
}

/* Compiles s/REGEX/NAME/, with any character for /. Returns what is wrong with it, or NULL. */
static const char *parse_rule(struct rule *rule, char *text, char *why, size_t size)
{
	char *regex = text + 2, *name, *end, mark = text[1];
	const char *wrong;
	int err;

	if (text[0] != 's' || !mark || isalnum((unsigned char)mark) || mark == '\\')
		return "after comm or tag comes s/REGEX/NAME/";
	name = strchr(regex, mark);
	end = name ? strchr(name + 1, mark) : NULL;
	if (!end || end[1]) {
		snprintf(
			why, size,
			"the %c behind s comes %s; a rule has three, the last at the end. None can be "
			"escaped: if a name has a %c, choose another character, as in s,REGEX,NAME,",
			mark, end ? "again behind the third" : "less than three times", mark);
		return why;
	}
	*name++ = '\0';
	*end = '\0';
	if (!*regex)
		return "the regular expression is empty; ^ matches every name, ^$ the empty one";
	wrong = refuse_regex(regex);
	if (wrong)
		return wrong;
	err = regcomp(&rule->regex, regex, REG_EXTENDED);
	if (err) {
		regerror(err, &rule->regex, why, size);
		return why;
	}
	wrong = refuse_name(rule, name, why, size);
	rule->name = wrong ? NULL : strdup(name);
	if (rule->name)
		return NULL;
	regfree(&rule->regex);
	return wrong ? wrong : "out of memory";
}

static const char *parse_line(struct rules *rules, char *line, unsigned long number, char *why,
			      size_t size)
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
		return "more than " TEXT_OF(RULES_MOST) " rules";
	rule->line = number;
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

/* Reads a line of at most LINE_MOST bytes. False at the end of the file, or with @wrong set. */
static bool read_line(FILE *file, char *line, const char **wrong)
{
	size_t length = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF && c != '\n') {
		if (!c)
			*wrong = "it has a NUL; rules are text";
		else if (length == LINE_MOST)
			*wrong = "it is longer than " TEXT_OF(LINE_MOST) " bytes";
		if (*wrong)
			return false;
		line[length++] = (char)c;
	}
	line[length] = '\0';
	if (ferror(file))
		*wrong = strerror(errno);
	return !*wrong && (c != EOF || length);
}

int rules_open(struct rules **out, const char *path)
{
	const char *wrong = NULL;
	bool standard = !strcmp(path, "-");
	FILE *file = standard ? stdin : fopen(path, "re");
	char line[LINE_MOST + 1], why[256];
	unsigned long number = 1;

	if (!file) {
		fail_print("cannot open the rules '%s': %s", path, strerror(errno));
		return CTL_REFUSED;
	}
	*out = calloc(1, sizeof(**out));
	for (; *out && read_line(file, line, &wrong); number++) {
		wrong = parse_line(*out, line, number, why, sizeof(why));
		if (wrong)
			break;
	}
	if (!standard)
		fclose(file);
	if (!*out)
		return fail_memory();
	if (!wrong)
		return CTL_OK;
	fail_print("%s: line %lu: %s", standard ? "standard input" : path, number, wrong);
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
	errno = size > NAME_MOST ? E2BIG : ENOMEM;
	return NULL;
}

char *rules_apply(const struct rules *rules, enum subject subject, const char *name,
		  unsigned long *line)
{
	char *now = strdup(name);

	*line = 0;
	for (size_t i = 0; i < rules->n && now; i++) {
		const struct rule *rule = &rules->list[i];
		regmatch_t groups[GROUPS];
		char *next;

		if (rule->subject != subject || regexec(&rule->regex, now, GROUPS, groups, 0))
			continue;
		*line = rule->line;
		next = replace(rule, now, groups);
		free(now);
		now = next;
	}
	return now;
}
