/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the fuzzer of the ioctls: a model of the tree of tags and of the names that docs/abi.md allows, and the check
 * that the module's tree is the same.
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

/* Is the name printable UTF-8? */
bool is_component(const char *name, size_t len);

size_t some_name(char *name);
unsigned some_tag(void);

/* Checks that the module's tree is the model's: refused calls have changed nothing. */
void same_tree(void);

/* Begins with an empty tree. */
void tree_begin(void);

#endif
