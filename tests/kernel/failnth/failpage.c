// SPDX-License-Identifier: GPL-2.0
/*
 * For tests only: has the kernel take a page of the calling process out of its own page tables, as it does with one that
 * hardware says has failed. madvise(MADV_HWPOISON) does not.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>

static struct page *failed;
static int (*fail)(unsigned long pfn), (*mend)(unsigned long pfn);

/* The address of a function that is not exported on all kernels. */
static void *find(const char *name)
{
	struct kprobe probe = {.symbol_name = name};

	if (register_kprobe(&probe))
		return NULL;
	unregister_kprobe(&probe);
	return probe.addr;
}

static void mend_page(void)
{
	if (!failed)
		return;
	mend(page_to_pfn(failed));
	put_page(failed);
	failed = NULL;
}

static int address_set(const char *value, const struct kernel_param *param)
{
	unsigned long address;
	int ret = kstrtoul(value, 0, &address);

	if (ret)
		return ret;
	mend_page();
	if (!address)
		return 0;
	ret = get_user_pages_fast(address, 1, 0, &failed);
	if (ret == 1)
		ret = fail(page_to_pfn(failed));
	return ret;
}

static const struct kernel_param_ops address_ops = {.set = address_set};
module_param_cb(address, &address_ops, NULL, 0200);
MODULE_PARM_DESC(address, "of the calling process, whose page there is to fail; 0: no longer");

static int __init failpage_init(void)
{
	fail = find("set_mce_nospec");
	mend = find("clear_mce_nospec");
	return fail && mend ? 0 : -ENOENT;
}

static void __exit failpage_exit(void)
{
	mend_page();
}

module_init(failpage_init);
module_exit(failpage_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("For tests of mtag only: pages that fail");
