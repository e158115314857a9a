/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pinned pages of a process that hold words; pin.c. Only thread.c and thread_start.c
 * use them; mtag_record_lock protects the tree that they are kept in.
 */
#ifndef MTAG_PIN_H
#define MTAG_PIN_H

#include <linux/types.h>

struct mtag_pin;
struct mtag_space;

struct mtag_pin *mtag_pin_make(unsigned long word);
struct mtag_pin *mtag_pin_get(struct mtag_space *s, struct mtag_pin **pin);
struct mtag_pin *mtag_pin_share(struct mtag_pin *pin);
struct mtag_pin *mtag_pin_put(struct mtag_space *s, struct mtag_pin *pin);
u32 *mtag_pin_word(const struct mtag_pin *pin, unsigned long word);
int mtag_pin_count(struct mtag_pin *pin, struct mtag_space *s);
void mtag_pin_unpin(struct mtag_pin *pin);
void mtag_pin_free(struct mtag_pin *pin);

#endif /* MTAG_PIN_H */
