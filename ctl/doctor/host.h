/* SPDX-License-Identifier: GPL-2.0 */
/* Gathers what the checks of mtagctl doctor look at. */
#ifndef MTAGCTL_HOST_H
#define MTAGCTL_HOST_H

#include "model.h"

enum lockdown { LOCKDOWN_UNSEEN, LOCKDOWN_OFF, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };

/* Whether the kernel trusts the module's signature. */
enum trust { TRUST_UNSIGNED, TRUST_UNKNOWN_KEY, TRUST_UNSEEN, TRUST_KNOWN_KEY };

/**
 * struct host - what the checks look at
 * @file:	the module's file that the user named, or NULL
 * @release:	the kernel's
 * @version:	what it says of its build, as uname -v does, or ""
 * @machine:	"x86_64"
 * @config:	the kernel's configuration, or NULL
 * @module:	modinfo's output for the module's file, "" without such a file, NULL without modinfo
 * @built_for:	the release of the kernel that this file was built for, or ""
 * @log:	the kernel's log, or NULL
 * @lockdown:	the kernel's lockdown level
 * @enforced:	the kernel refuses modules without a trusted signature
 * @loaded:	the module is loaded
 * @family:	0 or -errno of opening the netlink family
 * @info:	zero unless @family is 0
 */
struct host {
	const char *file;
	char release[128];
	char version[128];
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

/* @file NULL: the module installed for this kernel. Else it must outlive @host. */
void host_look(struct host *host, const char *file);
void host_clear(struct host *host);
/* The module's file exists and is built for this kernel. */
bool host_built(const struct host *host);
/* The module's file is one of mtag's, or there is no modinfo to tell. */
bool host_may_be_ours(const struct host *host);
/* This kernel has accepted the module that is asked about: that one is loaded says nothing of a file. */
bool host_accepted(const struct host *host);
/* Sets *@signer to the name of the key's owner, which the caller frees, or to NULL. */
enum trust host_trust(const struct host *host, char **signer);

#endif
