// SPDX-License-Identifier: GPL-2.0
/*
 * An ELF file that a process has mapped. It is found by its path, where by now anything may be: a pipe that never
 * answers is not opened for reading, and a file with another build-id is not the one that was mapped.
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "file.h"
#include "kept.h"
#include "stacks/object.h"

/*
 * A link to a file of debug information is a name, which stands for one below debug_path; an alternate file has a path
 * of its own, which root's rights follow below debug_path only.
 */
static bool may_follow(const char *path, const char *link)
{
	static const char below[] = "/usr/lib/debug/";

	if (path)
		return !link || !strchr(link, '/');
	return setfsuid((uid_t)-1) || !link ||
	       (!strncmp(link, below, strlen(below)) && !strstr(link, ".."));
}

/*
 * Where debuginfod's client would keep what it fetches: the first of its places that is ours alone. -1 if none is.
 */
static int open_fetched(void)
{
	static const struct {
		const char *variable, *below;
		bool make;
	} places[] = {
		{"DEBUGINFOD_CACHE_PATH", "", true},
		{"HOME", "/.debuginfod_client_cache", false},
		{"XDG_CACHE_HOME", "/debuginfod_client", true},
		{"HOME", "/.cache/debuginfod_client", true},
	};
	int fd = -1;

	for (size_t i = 0; i < ARRAY_SIZE(places) && fd < 0; i++) {
		const char *base = getenv(places[i].variable);
		char path[PATH_MAX];

		if (base && *base &&
		    snprintf(path, sizeof(path), "%s%s", base, places[i].below) < PATH_MAX)
			fd = kept_directory(path, places[i].make);
	}
	return fd;
}

/*
 * The client would follow any link to its cache, and believe any file there. So it is told the very directory that was
 * found to be ours; where there is none, it has no server to ask, without which it does not look there either.
 */
static void settle_fetched(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	static bool settled;
	char path[32];
	int fd;

	if (settled || !servers || !*servers)
		return;
	settled = true;
	fd = open_fetched();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || setenv("DEBUGINFOD_CACHE_PATH", path, 1))
		unsetenv("DEBUGINFOD_URLS");
}

/*
 * The file itself may name other files; those are opened with the rights that guard.c has taken on.
 * With our own rights, debug information is found by build-id only, because debuginfod's cache is
 * ours.
 */
static int find_debug(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		      const char *path, const char *link, GElf_Word crc, char **found)
{
	const unsigned char *id;
	GElf_Addr address;
	/* Without a path it is an alternate file that is wanted, and @link its path. */
	bool by_id = path && dwfl_module_build_id(module, &id, &address) > 0;
	int fd = -1, owner = setfsuid(geteuid());

	settle_fetched();
	if (by_id)
		fd = dwfl_standard_find_debuginfo(module, data, name, base, path, NULL, 0, found);
	setfsuid((uid_t)owner);
	/* See guard.c. */
	if ((uid_t)owner != geteuid())
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 && may_follow(path, link))
		fd = dwfl_standard_find_debuginfo(module, data, name, base, path, link, crc, found);
	return fd;
}

/* Not beside the file, where its owner may have put anything, too. */
static char *debug_path = "/usr/lib/debug";

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debug,
	.debuginfo_path = &debug_path,
	.section_address = dwfl_offline_section_address,
};

/* The kernel's own piece of code is the same in all processes of a word size: that of this one, as a file. */
static int open_vdso(void)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	size_t length;
	int fd;

	if (!header || header->e_ident[EI_CLASS] != ELFCLASS64)
		return -1;
	length = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, header, length) == (ssize_t)length)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_file(int root, const char *path)
{
	_cleanup_(freep) char *whole = NULL;
	char magic[SELFMAG];
	int fd;

	if (asprintf(&whole, "/proc/self/fd/%d%s", root, path) < 0) {
		whole = NULL;
		return -1;
	}
	fd = file_open_regular(whole);
	/* What is compressed may be a few bytes of what it becomes. */
	if (fd < 0 || (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		       !memcmp(magic, ELFMAG, sizeof(magic))))
		return fd;
	close(fd);
	return -1;
}

/* Without a build-id of what was mapped there is nothing to compare. */
static bool is_same(Dwfl_Module *module, const struct trace_image *image)
{
	const unsigned char *id;
	GElf_Addr address;
	int length = dwfl_module_build_id(module, &id, &address);

	return !image->build_id_length || (length > 0 && (size_t)length == image->build_id_length &&
					   !memcmp(id, image->build_id, image->build_id_length));
}

void object_open(struct object *object, int root, const struct trace_image *image)
{
	bool vdso = !strcmp(image->path, "[vdso]");
	struct stat st;

	object->fd = image->path[0] == '/' ? open_file(root, image->path) : vdso ? open_vdso() : -1;
	object->trusted = object->fd >= 0 &&
			  (vdso || (!fstat(object->fd, &st) && kept_is_trusted(object->fd, &st) &&
				    kept_is_our_root(root)));
}

void object_read(struct object *object, const struct trace_image *image)
{
	GElf_Addr bias;

	if (object->fd < 0)
		return;
	object->dwfl = dwfl_begin(&callbacks);
	if (object->dwfl) {
		dwfl_report_begin(object->dwfl);
		/* It takes the descriptor, unless it fails. */
		object->module = dwfl_report_offline(object->dwfl, trace_image_name(image),
						     image->path, object->fd);
		dwfl_report_end(object->dwfl, NULL, NULL);
	}
	if (!object->module)
		close(object->fd);
	else if (!dwfl_module_getelf(object->module, &bias) || !is_same(object->module, image))
		object->module = NULL;
	object->fd = -1;
}

size_t object_build_id(const struct object *object, uint8_t id[TRACE_BUILD_ID_MOST])
{
	const unsigned char *bytes;
	GElf_Addr address;
	int length = object->module ? dwfl_module_build_id(object->module, &bytes, &address) : 0;

	if (length <= 0 || length > TRACE_BUILD_ID_MOST)
		return 0;
	memcpy(id, bytes, (size_t)length);
	return (size_t)length;
}

void object_close(struct object *object)
{
	if (object->fd >= 0)
		close(object->fd);
	if (object->dwfl)
		dwfl_end(object->dwfl);
	*object = (struct object){.fd = -1};
}

bool object_address(const struct object *object, uint64_t offset, GElf_Addr *address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(object->module, &bias);
	size_t n;

	if (!elf || elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X) || offset < segment.p_offset ||
		    offset - segment.p_offset >= segment.p_filesz)
			continue;
		*address = bias + segment.p_vaddr + (offset - segment.p_offset);
		return true;
	}
	return false;
}
