// SPDX-License-Identifier: GPL-2.0
/* Swap areas, and a file system other than tmpfs. */
#include "swap.h"
#include "files.h"
#include "truth.h"

bool real_fs(void)
{
	return !sh("mountpoint -q " FS
		   " || { modprobe brd rd_nr=1 rd_size=196608 && modprobe ext4 && "
		   "mkfs.ext4 -q -F /dev/ram0 && mkdir -p " FS " && mount /dev/ram0 " FS "; } >&2");
}

bool swap_zram(void)
{
	return !sh(
		"{ grep -q zram /proc/swaps || { modprobe zram && id=$(cat /sys/class/zram-control/hot_add) "
		"&& echo 512M >/sys/block/zram$id/disksize && mkswap -q /dev/zram$id "
		"&& swapon -p 10 /dev/zram$id; }; } >&2");
}

bool swap_file(void)
{
	return real_fs() &&
	       !sh("{ { [ -s " FS "/swap ] || fallocate -l 64M " FS "/swap; } && chmod 600 " FS
		   "/swap && mkswap -q " FS "/swap && swapon " FS "/swap; } >&2");
}

int swapoff_all(void)
{
	return sh(
		"swapoff -a && for s in $(awk 'NR > 1 {print $1}' /proc/swaps); do swapoff $s || exit; done");
}

bool page_out(void *start, size_t len)
{
	return until((madvise(start, len, MADV_PAGEOUT), smaps(start, len).swap == len), 30);
}

void reclaim(void *start, size_t len)
{
	uint64_t before = 0, after = 0;

	for (int unchanged = 0; unchanged < 3 && after != len; unchanged++) {
		madvise(start, len, MADV_PAGEOUT);
		after = smaps(start, len).swap;
		if (after != before)
			unchanged = 0;
		before = after;
		usleep(20000);
	}
}

bool reclaim_group(const char *p, size_t pages)
{
	return until(
		(sh("g=$(sed -n 's/^0:://p' /proc/%d/cgroup); echo 64M >/sys/fs/cgroup$g/memory.reclaim 2>/dev/null",
		    getpid()),
		 smaps(p, pages * PG).swap == pages * PG),
		30);
}
