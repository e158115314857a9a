// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of the netlink family: the stacks of a process. A dump has images first, then the stacks
 * that refer to them, and at last a message that says what was lost.
 */
#include <linux/bitmap.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/sock.h>
#include "access.h"
#include "dump_stacks.h"
#include "image.h"
#include "leaf.h"
#include "message.h"
#include "mtag.h"
#include "request.h"
#include "sight.h"
#include "stack.h"
#include "stacks.h"
#include "stackset.h"
#include "state.h"
#include "touched.h"

/* A path, or a stack, and what comes with it. */
#define MESSAGE_BYTES	8192

/**
 * struct stacks_dump - a dump under way
 * @process:	whose stacks they are: pid and name
 * @lost:	how many of them were lost
 * @uncounted:	pages whose first touch is beneath none of them
 * @one_in:	of so many first touches one was sampled; 0: of various numbers
 * @sight:	what is beneath them
 * @named:	those that the process knows by number, when the dump began; or NULL
 * @images:	those that they refer to; a bit each
 * @image:	next image to show
 * @seen:	index of the next of @sight to show
 * @number:	the next of @named to show
 * @ended:	the last message was made
 * @running:	set once the core owns the dump and will call stacks_dump_done()
 */
struct stacks_dump {
	struct mtag_process process;
	u64 lost;
	s64 uncounted;
	u32 one_in;
	struct mtag_sight *sight;
	struct mtag_stackset *named;
	unsigned long *images;
	unsigned int image;
	unsigned int seen;
	u32 number;
	bool ended;
	bool *running;
};

static void stacks_dump_free(struct stacks_dump *d)
{
	if (!d)
		return;
	mtag_sight_put(d->sight);
	mtag_stackset_put(d->named);
	bitmap_free(d->images);
	kfree(d);
	mtag_stacks_drop();
}

/* From here on the core owns the dump. */
static int stacks_dump_start(struct netlink_callback *cb)
{
	struct stacks_dump *d = cb->data;

	*d->running = true;
	return 0;
}

static int stacks_dump_done(struct netlink_callback *cb)
{
	stacks_dump_free(cb->data);
	return 0;
}

/* ---- messages ---- */

static int put_image(struct sk_buff *skb, unsigned int id)
{
	struct nlattr *nest = nla_nest_start(skb, MTAG_A_STACK_IMAGE);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, MTAG_A_IMAGE_ID, id) ||
	    nla_put_string(skb, MTAG_A_IMAGE_PATH, mtag_image_path(id))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_frames(struct sk_buff *skb, const struct mtag_stack *stack)
{
	struct mtag_stack_frame *frame;
	struct nlattr *attr;
	unsigned int i;

	attr = nla_reserve(skb, MTAG_A_STACK_FRAMES, stack->nr * sizeof(*frame));
	if (!attr)
		return -EMSGSIZE;
	for (i = 0; i < stack->nr; i++) {
		struct mtag_stack_frame f = {
			.offset = stack->frames[i] & MTAG_FRAME_OFFSET,
			.image = stack->frames[i] >> MTAG_FRAME_MAP,
			.flags = stack->frames[i] & MTAG_FRAME_EXACT ? MTAG_STACK_EXACT : 0,
		};

		/* An attribute is aligned to 4 bytes only. */
		memcpy(nla_data(attr) + i * sizeof(f), &f, sizeof(f));
	}
	return 0;
}

/* A counter that may be below 0 for a moment. */
static int put_pages(struct sk_buff *skb, int type, s64 pages)
{
	return mtag_message_put_pages(skb, type, max(pages, 0LL));
}

static u32 stack_kind(u32 stack)
{
	switch (stack) {
	case MTAG_LEAF_KERNEL:
		return MTAG_STACK_KERNEL;
	case MTAG_LEAF_UNSAMPLED:
		return MTAG_STACK_UNSAMPLED;
	case MTAG_LEAF_NONE:
		return MTAG_STACK_NONE;
	default:
		return MTAG_STACK_TAKEN;
	}
}

static int put_stack(struct sk_buff *skb, const struct mtag_seen *e)
{
	const struct mtag_stack *stack = mtag_stack_at(e->stack);
	struct nlattr *nest = nla_nest_start(skb, MTAG_A_STACK);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u16(skb, MTAG_A_TAG_ID, e->tag) ||
	    mtag_message_put_pages(skb, MTAG_A_STACK_ANON, e->anon) ||
	    mtag_message_put_pages(skb, MTAG_A_STACK_SWAP, e->swap) ||
	    (e->stack != MTAG_LEAF_NONE && put_pages(skb, MTAG_A_STACK_TOUCHED, e->touched)) ||
	    nla_put_u32(skb, MTAG_A_STACK_KIND, stack ? MTAG_STACK_TAKEN : stack_kind(e->stack)) ||
	    (stack && (nla_put_u32(skb, MTAG_A_STACK_WHY, stack->why) || put_frames(skb, stack)))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_named(struct sk_buff *skb, u32 number)
{
	const struct mtag_stack *stack = mtag_stack_at(number);
	struct nlattr *nest = nla_nest_start(skb, MTAG_A_STACK);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, MTAG_A_STACK_NUMBER, number) ||
	    nla_put_u32(skb, MTAG_A_STACK_KIND, MTAG_STACK_TAKEN) ||
	    (stack && (nla_put_u32(skb, MTAG_A_STACK_WHY, stack->why) || put_frames(skb, stack)))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Puts as many images as fit. Return: whether any did. */
static bool put_images(struct sk_buff *skb, struct stacks_dump *d)
{
	unsigned int first = d->image;

	while (d->image < MTAG_IMAGES_MAX && !put_image(skb, d->image))
		d->image = find_next_bit(d->images, MTAG_IMAGES_MAX, d->image + 1);
	return d->image != first;
}

/* Has the entry anything to show? What was touched may have been another's, see cow.c. */
static bool is_shown(const struct mtag_seen *e)
{
	return e->used && (e->anon || e->swap || e->touched > 0);
}

/* The index of the next entry to show, from @i on. */
static unsigned int next_seen(const struct mtag_sight *sight, unsigned int i)
{
	while (i < sight->room && !is_shown(&sight->seen[i]))
		i++;
	return i;
}

static bool put_stacks(struct sk_buff *skb, struct stacks_dump *d)
{
	unsigned int first = d->seen;

	while (d->seen < d->sight->room && !put_stack(skb, &d->sight->seen[d->seen]))
		d->seen = next_seen(d->sight, d->seen + 1);
	return d->seen != first;
}

static bool has_numbers(const struct stacks_dump *d)
{
	return d->named && d->number < d->named->room;
}

static bool put_numbers(struct sk_buff *skb, struct stacks_dump *d)
{
	u32 first = d->number;

	while (has_numbers(d) && !put_named(skb, d->number))
		d->number = mtag_stackset_next(d->named, d->number + 1);
	return d->number != first;
}

static bool stacks_put_end(struct sk_buff *skb, struct stacks_dump *d)
{
	d->ended = !(d->one_in && nla_put_u32(skb, MTAG_A_STACK_ONE_IN, d->one_in)) &&
		   !put_pages(skb, MTAG_A_STACK_UNCOUNTED, d->uncounted) &&
		   !mtag_message_put_u64(skb, MTAG_A_STACK_LOST, d->lost);
	return d->ended;
}

/* Puts what comes next. Return: false if it does not fit. */
static bool put_next(struct sk_buff *skb, struct stacks_dump *d)
{
	if (mtag_message_put_process(skb, &d->process))
		return false;
	if (d->image < MTAG_IMAGES_MAX)
		return put_images(skb, d);
	if (d->seen < d->sight->room)
		return put_stacks(skb, d);
	if (has_numbers(d))
		return put_numbers(skb, d);
	return stacks_put_end(skb, d);
}

static int stacks_dump_fill(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct stacks_dump *d = cb->data;
	void *hdr;

	while (!d->ended) {
		hdr = mtag_message_begin(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
					 NLM_F_MULTI, MTAG_CMD_STACK_GET);
		if (!hdr)
			break;
		if (!put_next(skb, d)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	return d->ended || skb->len ? skb->len : -EMSGSIZE;
}

/* ---- what is dumped ---- */

static void find_images_of(struct stacks_dump *d, u32 id)
{
	const struct mtag_stack *stack = mtag_stack_at(id);
	unsigned int frame;

	for (frame = 0; stack && frame < stack->nr; frame++)
		__set_bit(stack->frames[frame] >> MTAG_FRAME_MAP, d->images);
	cond_resched();
}

/* Finds the images that the stacks refer to, and the first of all that is shown. */
static void find_images(struct stacks_dump *d)
{
	unsigned int i;
	u32 id;

	for (i = 0; i < d->sight->room; i++)
		if (is_shown(&d->sight->seen[i]))
			find_images_of(d, d->sight->seen[i].stack);
	d->seen = next_seen(d->sight, 0);
	if (d->named)
		d->number = mtag_stackset_next(d->named, 0);
	for (id = d->number; has_numbers(d) && id < d->named->room;
	     id = mtag_stackset_next(d->named, id + 1))
		find_images_of(d, id);
	d->image = find_first_bit(d->images, MTAG_IMAGES_MAX);
}

static int explain_error(struct mtag_request *r, int err)
{
	if (err != -ENODATA)
		return mtag_message_explain(&r->extack, err);
	NL_SET_ERR_MSG(&r->extack, "the stacks of this process are not taken");
	return err;
}

static void read_totals(struct stacks_dump *d, const struct mtag_stacks *stacks)
{
	d->lost = atomic64_read(&stacks->touched->lost);
	d->uncounted = atomic64_read(&stacks->touched->uncounted);
	d->one_in = READ_ONCE(stacks->one_in_varied) ? 0 : READ_ONCE(stacks->one_in);
}

/* What the process knows by number, if the sender asks for it. */
static int read_named(struct stacks_dump *d, const struct mtag_space *s,
		      const struct mtag_request *r)
{
	/* Pairs with mtag_heap_stack(). */
	const struct mtag_stackset *named = smp_load_acquire(&s->stacks.named);

	if (!named || !nlmsg_find_attr(r->nlh, GENL_HDRLEN, MTAG_A_STACK_NAMED))
		return 0;
	d->named = mtag_stackset_copy(named, MTAG_GFP);
	return d->named ? 0 : -ENOMEM;
}

static int stacks_dump_read(struct stacks_dump *d, struct mtag_request *r)
{
	const struct nlattr *older = nlmsg_find_attr(r->nlh, GENL_HDRLEN, MTAG_A_STACK_OLDER);
	struct mtag_target t;
	int err = mtag_request_target(&t, MTAG_ACCESS_READ, r);

	if (err)
		return err;
	d->process = t.process;
	d->sight = mtag_sight_get(t.space, older ? nla_get_u32(older) : 0);
	if (IS_ERR(d->sight)) {
		err = PTR_ERR(d->sight);
		d->sight = NULL;
	} else {
		read_totals(d, &t.space->stacks);
		err = read_named(d, t.space, r);
	}
	mtag_access_put(&t);
	if (err)
		return explain_error(r, err);
	d->images = bitmap_zalloc(MTAG_IMAGES_MAX, MTAG_GFP);
	if (!d->images)
		return mtag_message_explain(&r->extack, -ENOMEM);
	find_images(d);
	return 0;
}

/*
 * No process has its stacks taken. Look the process up all the same: that it does not exist, or may
 * not be read, is the better reason.
 */
static int refuse_dump(struct mtag_request *r)
{
	struct mtag_target t;
	int err = mtag_request_target(&t, MTAG_ACCESS_READ, r);

	if (err)
		return err;
	mtag_access_put(&t);
	return explain_error(r, -ENODATA);
}

/**
 * mtag_dump_stacks() - begin the dump of a process's stacks
 * @r:		the request
 *
 * Return: as an answer of request.c.
 */
int mtag_dump_stacks(struct mtag_request *r)
{
	struct stacks_dump *d;
	struct netlink_dump_control control = {
		.start = stacks_dump_start,
		.dump = stacks_dump_fill,
		.done = stacks_dump_done,
		.min_dump_alloc = MESSAGE_BYTES,
		.module = THIS_MODULE,
	};
	bool running = false;
	int err;

	/* Until the last message: its stacks are looked up as they are shown. */
	if (!mtag_stacks_hold())
		return refuse_dump(r);
	d = kzalloc(sizeof(*d), MTAG_GFP);
	if (!d) {
		mtag_stacks_drop();
		return mtag_message_explain(&r->extack, -ENOMEM);
	}
	d->running = &running;
	control.data = d;
	err = stacks_dump_read(d, r);
	if (!err)
		err = netlink_dump_start(sock_net(r->sk)->genl_sock, r->skb, r->nlh, &control);
	if (!running)
		stacks_dump_free(d);
	return err;
}
