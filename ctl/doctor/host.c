// SPDX-License-Identifier: GPL-2.0
/* Gathers what the checks of mtagctl doctor look at. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ctl.h"
#include "doctor/host.h"
#include "kern.h"
#include "probe.h"

static enum lockdown read_lockdown(void)
{
	char text[128];

	if (!probe_line("/sys/kernel/security/lockdown", text, sizeof(text)))
		return LOCKDOWN_UNSEEN;
	return strstr(text, "[confidentiality]") ? LOCKDOWN_CONFIDENTIALITY
	       : strstr(text, "[integrity]")	 ? LOCKDOWN_INTEGRITY
						 : LOCKDOWN_OFF;
}

static bool read_enforced(void)
{
	char text[16];

	probe_line("/sys/module/module/parameters/sig_enforce", text, sizeof(text));
	return *text == 'Y' || *text == '1';
}

static void look_file(struct host *host, const char *file)
{
	_cleanup_(freep) char *magic = NULL;

	host->module = probe_modinfo(host->release, file);
	magic = host->module ? probe_field(host->module, "vermagic") : NULL;
	if (magic)
		snprintf(host->built_for, sizeof(host->built_for), "%.*s", (int)strcspn(magic, " "),
			 magic);
}

bool host_built(const struct host *host)
{
	return *host->built_for && !strcmp(host->built_for, host->release);
}

bool host_may_be_ours(const struct host *host)
{
	_cleanup_(freep) char *name = host->module ? probe_field(host->module, "name") : NULL;

	return !host->module || (name && !strcmp(name, "mtag"));
}

bool host_accepted(const struct host *host)
{
	return host->loaded && (!host->file || !host->module);
}

/* Only the running kernel can be asked, not one below another root. */
static void look_live(struct host *host)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;

	host->family = kern_open(&kern);
	if (!host->family)
		host->family = kern_info(kern, &host->info);
}

void host_look(struct host *host, const char *file)
{
	struct utsname uts;

	host->file = file;
	uname(&uts);
	snprintf(host->machine, sizeof(host->machine), "%s", uts.machine);
	if (!probe_line("/proc/sys/kernel/osrelease", host->release, sizeof(host->release)))
		snprintf(host->release, sizeof(host->release), "%s", uts.release);
	probe_line("/proc/sys/kernel/version", host->version, sizeof(host->version));
	host->config = probe_config(host->release);
	look_file(host, file);
	host->log = probe_log();
	host->lockdown = read_lockdown();
	host->enforced = read_enforced() || host->lockdown > LOCKDOWN_OFF;
	host->family = -ENOPROTOOPT;
	if (!*probe_root())
		look_live(host);
	host->loaded = !host->family || !probe_access("/sys/module/mtag", F_OK);
}

void host_clear(struct host *host)
{
	free(host->config);
	free(host->module);
	free(host->log);
}

/* The kernel shows its keys as "NAME: id". A signature has only the name to compare with. */
static enum trust look_up_signer(const char *signer)
{
	_cleanup_(freep) char *keys = probe_read("/proc/keys");
	char *save = NULL;
	size_t len = strlen(signer);
	bool any = false;

	for (char *line = keys ? strtok_r(keys, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *key = strstr(line, " asym");

		if (!key)
			continue;
		any = true;
		for (key = strstr(key, signer); key; key = strstr(key + 1, signer))
			if (key[-1] == ' ' && !strncmp(key + len, ": ", 2))
				return TRUST_KNOWN_KEY;
	}
	return any ? TRUST_UNKNOWN_KEY : TRUST_UNSEEN;
}

enum trust host_trust(const struct host *host, char **signer)
{
	_cleanup_(freep) char *id = NULL;

	*signer = NULL;
	if (!host->module)
		return TRUST_UNSEEN;
	id = probe_field(host->module, "sig_id");
	if (!id)
		return TRUST_UNSIGNED;
	*signer = probe_field(host->module, "signer");
	return *signer && **signer ? look_up_signer(*signer) : TRUST_UNSEEN;
}
