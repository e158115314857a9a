/* SPDX-License-Identifier: GPL-2.0 */
/* The colours of pictures, as style sheets: in light and dark, each readable beneath or upon the text's. */
#ifndef MTAGCTL_PICTURE_PALETTE_H
#define MTAGCTL_PICTURE_PALETTE_H

#define HUES 8

/*
 * Areas: class c0 is grey, c1 to c8 are hues; c9 is what others are in. Text upon each is .ink, that
 * upon the ground is .note.
 */
extern const char palette_areas[];
/* Lines and their labels: k0 is grey, k1 to k8 have the hues of the areas. */
extern const char palette_lines[];

#endif
