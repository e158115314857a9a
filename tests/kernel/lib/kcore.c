// SPDX-License-Identifier: GPL-2.0
/* Reads the kernel's own memory. */
#include "kcore.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "files.h"
#include "tap.h"

/* The kernel takes half a second to print them, so they are kept. */
#define SYMBOLS "/tmp/kallsyms"

uint64_t symbol(const char *name, bool of_mtag)
{
	static bool kept;
	char command[256], line[256] = "";
	FILE *found;

	if (!kept && sh("cp /proc/kallsyms " SYMBOLS))
		bail("cannot keep the symbols");
	kept = true;
	snprintf(command, sizeof(command), "grep ' %s%s' " SYMBOLS, name,
		 of_mtag ? "\t\\[mtag\\]$" : "$");
	found = popen(command, "r");
	if (!found)
		bail("%s", command);
	if (!fgets(line, sizeof(line), found))
		line[0] = '\0';
	pclose(found);
	return strtoull(line, NULL, 16);
}

/* Memory that comes or goes changes the file's table: it is read each time. */
bool kernel_read(uint64_t addr, void *buffer, size_t len)
{
	int fd = must(open("/proc/kcore", O_RDONLY | O_CLOEXEC));
	bool done = false;
	Elf64_Ehdr header;
	Elf64_Phdr part;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
		bail("read /proc/kcore");
	for (int i = 0; i < header.e_phnum && !done; i++) {
		if (pread(fd, &part, sizeof(part), header.e_phoff + i * sizeof(part)) !=
		    sizeof(part))
			bail("read /proc/kcore");
		if (part.p_type == PT_LOAD && addr >= part.p_vaddr &&
		    addr - part.p_vaddr + len <= part.p_memsz)
			done = pread(fd, buffer, len, part.p_offset + (addr - part.p_vaddr)) ==
			       (ssize_t)len;
	}
	close(fd);
	return done;
}

uint64_t kernel_word(uint64_t addr)
{
	uint64_t word;

	if (!kernel_read(addr, &word, sizeof(word)))
		bail("cannot read the kernel's memory at %" PRIx64, addr);
	return word;
}
