/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink attributes as the module sends them, and as it should not; written without libnl. */
#ifndef MTAG_FUZZ_MESSAGE_H
#define MTAG_FUZZ_MESSAGE_H

#include <limits.h>
#include <linux/netlink.h>

#include "fuzz.h"
#include "uapi/linux/mtag.h"

struct message {
	uint8_t *buf;
	size_t len, room;
	bool broken; /* does not keep to the grammar */
};

static inline void *put(struct message *m, size_t len)
{
	size_t padded = (len + 3) & ~(size_t)3;
	void *at = m->buf + m->len;

	if (m->room - m->len < padded) {
		m->broken = true;
		return NULL;
	}
	memset(at, 0, padded);
	m->len += padded;
	return at;
}

static inline void put_attr(struct message *m, unsigned int type, const void *data, size_t len)
{
	struct nlattr *a = put(m, sizeof(*a) + len);

	if (!a)
		return;
	a->nla_type = (uint16_t)type;
	a->nla_len = (uint16_t)(sizeof(*a) + len);
	if (len)
		memcpy(a + 1, data, len);
}

/* A number of the right size, or now and then of another. */
static inline void put_number(struct input *in, struct message *m, unsigned int type, size_t size)
{
	uint64_t value = in_number(in);

	if (in_rarely(in)) {
		size = in_below(in, 9);
		m->broken = true;
	}
	put_attr(m, type, &value, size);
}

static inline void put_string(struct input *in, struct message *m, unsigned int type, size_t most)
{
	char name[512];
	size_t len = in_name(in, name, in_rarely(in) ? sizeof(name) : most + 1);

	put_attr(m, type, name, len + !in_rarely(in));
}

static inline void put_tag(struct input *in, struct message *m)
{
	uint64_t counters[MTAG_C_NR + 4] = {0};
	size_t at = m->len, n = MTAG_C_NR;
	uint16_t id = (uint16_t)in_below(in, in_rarely(in) ? 65536 : 24);
	uint16_t parent = (uint16_t)(in_rarely(in) ? in_bytes(in, 2) : in_below(in, id + 1U));
	struct nlattr *nest = put(m, sizeof(*nest));

	if (!nest)
		return;
	if (in_rarely(in))
		n = in_below(in, MTAG_C_NR + 4);
	for (size_t i = 0; i < n; i++)
		counters[i] = in_number(in);
	put_attr(m, MTAG_A_TAG_ID, &id, sizeof(id));
	if (parent)
		put_attr(m, MTAG_A_TAG_PARENT, &parent, sizeof(parent));
	put_string(in, m, MTAG_A_TAG_NAME, MTAG_NAME_MAX);
	if (in_rarely(in))
		put_string(in, m, MTAG_A_TAG_PATH, 400);
	put_attr(m, MTAG_A_TAG_COUNTERS, counters, n * sizeof(*counters) - (n && in_rarely(in)));
	if (in_rarely(in))
		put_attr(m, MTAG_A_TAG_SHARES, counters, in_below(in, 8 * MTAG_S_NR + 9));
	nest->nla_type = MTAG_A_TAG | NLA_F_NESTED;
	nest->nla_len = (uint16_t)(m->len - at);
}

static const struct {
	unsigned int type, size; /* size 0: a string */
} fields[] = {
	{MTAG_A_PROC_TAGS, 4},	      {MTAG_A_PROC_ANON, 8},	   {MTAG_A_PROC_FILE, 8},
	{MTAG_A_PROC_SHMEM, 8},	      {MTAG_A_PROC_SWAP, 8},	   {MTAG_A_PROC_VIRT, 8},
	{MTAG_A_PROC_LOST, 8},	      {MTAG_A_PROC_OVERFLOW, 8},   {MTAG_A_PROC_REPAIRS, 8},
	{MTAG_A_AUDIT_KERNEL_RSS, 8}, {MTAG_A_AUDIT_WALKED, 8},	   {MTAG_A_AUDIT_DRIFT, 8},
	{MTAG_A_AUDIT_ACCOUNTED, 8},  {MTAG_A_AUDIT_MIGRATING, 8}, {MTAG_A_INFO_VERSION, 0},
	{MTAG_A_INFO_MODE, 0},	      {MTAG_A_INFO_INSTALLED, 4},  {MTAG_A_INFO_PROCS, 4},
	{MTAG_A_INFO_ENDED, 8},	      {MTAG_A_INFO_DRIFT, 8},	   {MTAG_A_INFO_LOST, 8},
	{MTAG_A_INFO_OVERFLOW, 8},    {MTAG_A_INFO_REPAIRS, 8},	   {MTAG_A_INFO_MEMORY, 8},
	{MTAG_A_INFO_HISTORY, 4},     {MTAG_A_HISTORY_PEAK, 8},	   {MTAG_A_HISTORY_OTHERS, 4},
};

/* What an ended process has besides, before its tags. */
static inline void put_past(struct input *in, struct message *m)
{
	uint64_t id = in_below(in, 3);

	put_attr(m, MTAG_A_HISTORY_ID, &id, sizeof(id));
	put_number(in, m, MTAG_A_HISTORY_ENDED, 8);
	put_number(in, m, MTAG_A_HISTORY_RAN, 8);
	put_number(in, m, MTAG_A_HISTORY_STATUS, 4);
	for (unsigned int flag = MTAG_A_HISTORY_OOM; flag <= MTAG_A_HISTORY_INEXACT; flag++)
		if (in_u8(in) & 1)
			put_attr(m, flag, NULL, 0);
}

/* The attributes of one message of the family, of any of its kinds. */
static inline void put_attributes(struct input *in, struct message *m)
{
	uint32_t pid = 1 + in_below(in, 3);

	if (in_rarely(in))
		pid = (uint32_t)in_number(in);
	if (!pid || pid > INT_MAX)
		m->broken = true;
	if (in_rarely(in))
		m->broken = true;
	else
		put_attr(m, MTAG_A_PROC_PID, &pid, sizeof(pid));
	put_string(in, m, MTAG_A_PROC_COMM, 15);
	if (in_u8(in) & 1)
		put_past(in, m);
	if (in_u8(in) & 1) {
		for (unsigned int n = in_below(in, 12); n; n--)
			put_tag(in, m);
		return;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (in_rarely(in))
			continue;
		if (fields[i].size)
			put_number(in, m, fields[i].type, fields[i].size);
		else
			put_string(in, m, fields[i].type, 31);
	}
}

/* What a broken kernel, or a broken wire, would make of it. */
static inline void spoil(struct input *in, struct message *m)
{
	if (in_u8(in) < 0xa0)
		return;
	m->broken = true;
	for (unsigned int n = in_below(in, 4) + 1; n && m->len; n--) {
		size_t at = in_below(in, (unsigned int)m->len);

		if (in_u8(in) & 1)
			m->buf[at] = (uint8_t)in_number(in);
		else
			m->buf[at & ~(size_t)3] ^= (uint8_t)(1U << in_below(in, 8)); /* a length */
	}
	if (in_u8(in) & 1)
		m->len = in_below(in, (unsigned int)m->len + 1);
}

#endif
