/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the fuzzer of the ioctls: the tree of tags as docs/abi.md has it, with the names that it takes and the
 * tags that there are, and whether the module's is the same.
 */
#ifndef MTAG_TESTS_FUZZ_TREE_H
#define MTAG_TESTS_FUZZ_TREE_H

#include "fuzz_args.h"

struct node {
	uint16_t parent;
	uint8_t depth, len;
	char name[64];
};

extern struct node *nodes;
extern unsigned nr_nodes, default_tag, max_tags;

bool exists(uint64_t id);
size_t path_of(unsigned id, char *to);
unsigned find(unsigned parent, const char *name, size_t len);

/* Printable UTF-8. */
bool is_component(const char *name, size_t len);

size_t some_name(char *name);
unsigned some_tag(void);

/* All that was refused has changed nothing: the tree is the model's. */
void same_tree(void);

/* As yet nothing has been made. */
void tree_begin(void);

#endif
