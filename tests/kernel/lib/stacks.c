// SPDX-License-Identifier: GPL-2.0
/* User stacks beneath tags, asked for by netlink. */
#include "stacks.h"

static const struct nlattr *next(const struct nlattr *attr)
{
	return (const void *)((const char *)attr + NL_ALIGN(attr->nla_len));
}

/* each_attr(a, from, to): attributes between two addresses. */
#define each_attr(a, from, to)                                                                     \
	for (const struct nlattr *a = (const void *)(from); (const char *)a < (const char *)(to);  \
	     a = next(a))

static const char *end_of(const struct nlattr *nest)
{
	return (const char *)nest + nest->nla_len;
}

static uint64_t u64_of(const struct nlattr *attr)
{
	uint64_t value;

	memcpy(&value, attr + 1, sizeof(value));
	return value;
}

static void take_image(const struct nlattr *nest, struct stacks *s)
{
	struct image_seen *image = &s->image[s->nr_images++];
	bool has_id = false;

	if (s->nr_images == IMAGES_SEEN)
		bail("too many images for this test");
	each_attr(a, nest + 1, end_of(nest))
	{
		if (a->nla_type == MTAG_A_IMAGE_ID) {
			image->id = nl_u32(a);
			has_id = true;
		}
		if (a->nla_type == MTAG_A_IMAGE_PATH)
			image->path = (const char *)(a + 1);
	}
	if (!has_id || !image->path)
		bail("an image without an id or a path");
}

const char *image_path(const struct stacks *s, uint32_t id)
{
	for (unsigned int i = 0; i < s->nr_images; i++)
		if (s->image[i].id == id)
			return s->image[i].path;
	return NULL;
}

static void take_frames(const struct nlattr *a, struct stack_seen *e)
{
	e->nr = (a->nla_len - NLA_HDRLEN) / sizeof(*e->frame);
	if (e->nr > FRAMES_MAX)
		bail("%u frames", e->nr);
	memcpy(e->frame, a + 1, e->nr * sizeof(*e->frame));
}

static void take_stack(const struct nlattr *nest, struct stacks *s)
{
	struct stack_seen *e = &s->stack[s->nr++];

	if (s->nr == STACKS_MAX)
		bail("too many stacks for this test");
	*e = (struct stack_seen){.kind = UINT32_MAX};
	each_attr(a, nest + 1, end_of(nest))
	{
		switch (a->nla_type & NLA_TYPE_MASK) {
		case MTAG_A_TAG_ID:
			memcpy(&e->tag, a + 1, sizeof(e->tag));
			break;
		case MTAG_A_STACK_ANON:
			e->anon = u64_of(a);
			break;
		case MTAG_A_STACK_SWAP:
			e->swap = u64_of(a);
			break;
		case MTAG_A_STACK_TOUCHED:
			e->touched = u64_of(a);
			break;
		case MTAG_A_STACK_KIND:
			e->kind = nl_u32(a);
			break;
		case MTAG_A_STACK_WHY:
			e->why = nl_u32(a);
			break;
		case MTAG_A_STACK_FRAMES:
			take_frames(a, e);
			break;
		case MTAG_A_STACK_NUMBER:
			e->number = nl_u32(a);
			break;
		}
	}
}

static void take_message(const struct nlmsghdr *h, struct stacks *s)
{
	each_attr(a, (const char *)h + NLMSG_LENGTH(GENL_HDRLEN), (const char *)h + h->nlmsg_len)
	{
		switch (a->nla_type & NLA_TYPE_MASK) {
		case MTAG_A_STACK_IMAGE:
			take_image(a, s);
			break;
		case MTAG_A_STACK:
			take_stack(a, s);
			break;
		case MTAG_A_STACK_ONE_IN:
			s->one_in = nl_u32(a);
			break;
		case MTAG_A_STACK_UNCOUNTED:
			s->uncounted = u64_of(a);
			break;
		case MTAG_A_STACK_LOST:
			s->lost = u64_of(a);
			s->ended = true;
			break;
		}
	}
}

/* A request with up to three attributes of 4 bytes. */
struct ask {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	struct {
		struct nlattr attr;
		uint32_t value;
	} a[3];
};

static void ask_u32(struct ask *m, int type, uint32_t value)
{
	unsigned int i = (m->nl.nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN)) / sizeof(m->a[0]);

	m->a[i].attr.nla_type = type;
	m->a[i].attr.nla_len = NLA_HDRLEN + sizeof(value);
	m->a[i].value = value;
	m->nl.nlmsg_len += sizeof(m->a[0]);
}

static struct ask ask(int command, int flags)
{
	if (!nl_family)
		nl_begin();
	return (struct ask){
		.nl = {.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
		       .nlmsg_type = nl_family,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags},
		.genl = {.cmd = command, .version = 1},
	};
}

static struct heard *answer(int fd, const struct ask *m)
{
	must(send(fd, m, m->nl.nlmsg_len, 0));
	return nl_hear(fd);
}

static void ask_flag(struct ask *m, int type)
{
	struct nlattr *attr = (void *)((char *)m + m->nl.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN;
	m->nl.nlmsg_len += NLA_HDRLEN;
}

static struct stacks *read_stacks(pid_t pid, uint32_t seconds, bool named)
{
	static struct stacks s;
	struct ask m = ask(MTAG_CMD_STACK_GET, NLM_F_DUMP);
	struct heard *heard;
	int fd = nl_open();

	if (!s.stack) {
		s.stack = must(mmap(NULL, STACKS_MAX * sizeof(*s.stack), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
		no_huge(s.stack, STACKS_MAX * sizeof(*s.stack));
	}
	s = (struct stacks){.stack = s.stack};
	if (pid)
		ask_u32(&m, MTAG_A_PROC_PID, pid);
	if (seconds)
		ask_u32(&m, MTAG_A_STACK_OLDER, seconds);
	if (named)
		ask_flag(&m, MTAG_A_STACK_NAMED);
	heard = answer(fd, &m);
	close(fd);
	s.error = heard->error;
	nl_each(h, heard) take_message(h, &s);
	return &s;
}

struct stacks *stacks_older(pid_t pid, uint32_t seconds)
{
	return read_stacks(pid, seconds, false);
}

struct stacks *stacks_named(pid_t pid)
{
	return read_stacks(pid, 0, true);
}

struct stacks *stacks(pid_t pid)
{
	return read_stacks(pid, 0, false);
}

int stacks_start(pid_t pid, uint32_t one_in, int event)
{
	struct ask m = ask(MTAG_CMD_STACK_START, 0);
	int fd = nl_open(), error;

	if (pid)
		ask_u32(&m, MTAG_A_PROC_PID, pid);
	ask_u32(&m, MTAG_A_STACK_ONE_IN, one_in);
	if (event != -1)
		ask_u32(&m, MTAG_A_STACK_FD, event);
	error = answer(fd, &m)->error;
	close(fd);
	return error;
}

int stacks_start_self(uint32_t one_in, int event)
{
	struct mtag_ioc_stacks arg = {.size = sizeof(arg), .one_in = one_in, .fd = event};

	return mtag_ioctl(MTAG_IOC_STACKS, &arg);
}

void stack_add(struct stack_sum *sum, const struct stack_seen *e)
{
	sum->anon += e->anon;
	sum->swap += e->swap;
	sum->touched += e->touched;
	sum->stacks += e->anon || e->swap;
}

struct stack_sum stack_sum(const struct stacks *s, unsigned int tag, unsigned int kind)
{
	struct stack_sum sum = {0};

	for (unsigned int i = 0; i < s->nr; i++) {
		const struct stack_seen *e = &s->stack[i];

		if ((tag != ANY_TAG && e->tag != tag) || (kind != ANY_KIND && e->kind != kind))
			continue;
		stack_add(&sum, e);
	}
	return sum;
}
