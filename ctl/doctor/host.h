/* SPDX-License-Identifier: GPL-2.0 */
/* What the checks of mtagctl doctor look at, gathered once. */
#ifndef MTAGCTL_HOST_H
#define MTAGCTL_HOST_H

#include "model.h"

enum lockdown { LOCKDOWN_UNSEEN, LOCKDOWN_OFF, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };

/* What the kernel would say of the module's signature. */
enum trust { TRUST_UNSIGNED, TRUST_UNKNOWN_KEY, TRUST_UNSEEN, TRUST_KNOWN_KEY };

/**
 * struct host - what the checks look at
 * @release:	of the kernel
 * @machine:	"x86_64"
 * @config:	the kernel's configuration, or NULL
 * @module:	what modinfo says of the module's file, "" if there is no such, NULL without modinfo
 * @built_for:	the release of the kernel that this file is for, or ""
 * @log:	the kernel's, or NULL
 * @lockdown:	the kernel's
 * @enforced:	the kernel refuses modules without a signature that it trusts
 * @loaded:	the module is
 * @family:	0 or -errno of opening the netlink family
 * @info:	zero unless @family is 0
 */
struct host {
	char release[128];
	char machine[65];
	char *config;
	char *module;
	char built_for[128];
	char *log;
	enum lockdown lockdown;
	bool enforced;
	bool loaded;
	int family;
	struct info info;
};

/* @file NULL: the module installed for this kernel. */
void host_look(struct host *host, const char *file);
void host_clear(struct host *host);
/* The module's file is there, and for this kernel. */
bool host_built(const struct host *host);
/* @signer is set to whose key it is, to be freed, or to NULL. */
enum trust host_trust(const struct host *host, char **signer);

#endif
