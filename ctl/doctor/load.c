// SPDX-License-Identifier: GPL-2.0
/* Checks whether the module is built for this kernel and whether the kernel accepts it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "doctor/host.h"
#include "doctor/known.h"
#include "doctor/load.h"
#include "probe.h"

/* The kernel is none that the module knows: it does not build for it. */
static void check_unknown(const struct host *host, struct check *check)
{
	static const char advice[] =
		"Boot one that it knows, or install a newer mtag. What is different here, the "
		"checks of symbols and function tracing show.";
	const struct known *nearest = known_nearest(host->release);
	char list[120];

	known_list(list, sizeof(list));
	check_set(check, CHECK_FAIL, advice,
		  "this version of mtag does not know %s; it knows %s%s%s", host->release, list,
		  nearest ? ", and the nearest is " : "", nearest ? nearest->name : "");
}

/* Debian's say "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-11-26)". */
static bool is_debians(const struct host *host)
{
	return !*host->version || strstr(host->version, " Debian ");
}

void check_kernel(const struct host *host, struct check *check)
{
	if (strcmp(host->machine, "x86_64") != 0)
		check_set(check, CHECK_FAIL, "mtag is for x86_64 only.", "%s %s", host->release,
			  host->machine);
	else if (!host->loaded && !host_built(host) && !known_is(host->release))
		check_unknown(host, check);
	else if (!host->loaded && !is_debians(host))
		check_set(check, CHECK_WARN,
			  "The module refuses to load where its functions are not as it knows "
			  "them. What the tests have shown, they have shown on Debian's.",
			  "mtag knows this version, but %s is not Debian's build of it",
			  host->release);
	else
		check_set(check, CHECK_OK, NULL, "%s", host->release);
}

/* The loaded module may be another build than the installed one, or the user's. */
static void check_loaded(const struct host *host, struct check *check)
{
	_cleanup_(freep) char *file = host->module ? probe_field(host->module, "srcversion") : NULL;
	char version[64], source[64];

	probe_line("/sys/module/mtag/version", version, sizeof(version));
	probe_line("/sys/module/mtag/srcversion", source, sizeof(source));
	if (host->file && !host->module)
		check_set(check, CHECK_WARN, "apt install kmod",
			  "loaded, version %s; modinfo, which would tell what the file is, is "
			  "missing",
			  version);
	else if (host->file && file && *source && strcmp(file, source) != 0)
		check_set(check, CHECK_WARN,
			  "To load it now, until the next boot: rmmod mtag && insmod FILE",
			  "loaded, version %s, but this file is another build than the one loaded",
			  version);
	else if (file && *source && strcmp(file, source) != 0)
		check_set(check, CHECK_WARN,
			  "The installed build is loaded at the next boot, or by: rmmod mtag && "
			  "modprobe mtag",
			  "loaded, version %s, but another build is installed", version);
	else
		check_set(check, CHECK_OK, NULL, "loaded, version %s",
			  *version ? version : "unknown");
}

/*
 * The last complaint in the log by the module, or by the kernel about it, since it last worked.
 * The kernel says of every out-of-tree module that it taints the kernel: that is no complaint.
 */
static const char *last_complaint(const struct host *host, char *buf, size_t size)
{
	const char *line = host->log;

	*buf = '\0';
	while (line && (line = strstr(line, " mtag: "))) {
		const char *text = line + strlen(" mtag: ");
		int len = (int)strcspn(text, "\n");

		line = text;
		if (!strncmp(text, "counting by ", strlen("counting by ")))
			*buf = '\0';
		else if (!memmem(text, (size_t)len, "taint", strlen("taint")))
			snprintf(buf, size, "%.*s", len, text);
	}
	return buf;
}

static void check_unloaded(const struct host *host, struct check *check)
{
	const char *advice = host->file ? "Fix what fails below, if anything, then: insmod FILE"
					: "Fix what fails below, if anything, then: modprobe mtag";
	char buf[200];

	if (!host->module)
		check_set(check, CHECK_FAIL, "Load it: modprobe mtag. See also: apt install kmod",
			  "not loaded; modinfo, which would tell whether it is built, is missing");
	else if (!*host->module && !known_is(host->release))
		check_set(check, CHECK_FAIL, "It cannot be: see the check of the kernel.",
			  "not built for this kernel");
	else if (!*host->module)
		check_set(check, CHECK_FAIL,
			  "As root: apt install mtag-dkms, or in the sources: make dkms",
			  "not built for this kernel");
	else if (!host_built(host))
		check_set(check, CHECK_FAIL,
			  "Build it for this kernel: make module KERNEL=$(uname -r)",
			  "not loaded; the file is for kernel %s", host->built_for);
	else if (*last_complaint(host, buf, sizeof(buf)))
		check_set(check, CHECK_FAIL, advice, "not loaded; the kernel's log says: %s", buf);
	else
		check_set(check, CHECK_FAIL, advice, "not loaded");
}

void check_module(const struct host *host, struct check *check)
{
	if (host->file && host->module && !host_built(host))
		check_set(check, CHECK_FAIL,
			  "Build it for this kernel: make module KERNEL=$(uname -r)",
			  "%sloaded; the file is for kernel %s, this one is %s",
			  host->loaded ? "" : "not ", *host->built_for ? host->built_for : "?",
			  host->release);
	else if (host->loaded)
		check_loaded(host, check);
	else
		check_unloaded(host, check);
}

void check_headers(const struct host *host, struct check *check)
{
	bool built = host_accepted(host) || host_built(host);
	char path[256];

	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", host->release);
	if (!probe_access(path, F_OK))
		check_set(check, CHECK_OK, NULL, "installed");
	else if (built)
		check_set(check, CHECK_OK, NULL, "not installed; the module is built");
	else
		check_set(check, CHECK_FAIL, "apt install linux-headers-$(uname -r)",
			  "not installed, so the module cannot be built");
}

void check_lockdown(const struct host *host, struct check *check)
{
	static const char advice[] = "The module must have a signature that this kernel trusts: "
				     "see the check of the module's signature.";
	_cleanup_(freep) char *signer = NULL;
	enum trust trust = host_trust(host, &signer);
	/* As in check_signature(), a key that only root can look up is no obstacle. */
	bool taken = host_accepted(host) || trust == TRUST_KNOWN_KEY ||
		     (host->module && trust == TRUST_UNSEEN);

	switch (host->lockdown) {
	case LOCKDOWN_UNSEEN:
		if (host->config && probe_config_has(host->config, "SECURITY_LOCKDOWN_LSM"))
			check_set(check, CHECK_WARN,
				  "mount -t securityfs none /sys/kernel/security",
				  "cannot be seen, as securityfs is not mounted");
		else
			check_set(check, CHECK_OK, NULL, "none visible");
		break;
	case LOCKDOWN_OFF:
		check_set(check, CHECK_OK, NULL, "off");
		break;
	case LOCKDOWN_INTEGRITY:
		check_set(check, taken ? CHECK_OK : CHECK_FAIL, advice,
			  "integrity: unsigned modules are refused");
		break;
	case LOCKDOWN_CONFIDENTIALITY:
		check_set(check, taken ? CHECK_OK : CHECK_FAIL, advice,
			  "confidentiality: unsigned modules are refused, tracefs is closed");
		break;
	}
}

/* The kernel would refuse the module, which may be loaded already. */
static void check_refused(const struct host *host, struct check *check, const char *advice,
			  const char *why, const char *signer)
{
	if (host_accepted(host))
		check_set(check, CHECK_WARN, advice, "%s%s: the next boot will not load it", why,
			  signer);
	else
		check_set(check, CHECK_FAIL, advice, "%s%s, and this kernel refuses it", why,
			  signer);
}

/*
 * A trusted key may have the same name, such as an earlier one of dkms's. Then only the log tells
 * that this one is not known, but not which module was refused: none that has worked since.
 */
static bool may_be_rejected(const struct host *host)
{
	static const char rejected[] = "Loading of module with unavailable key is rejected";
	const char *line = host_accepted(host) ? NULL : host->log, *last = NULL;

	while (line && (line = strstr(line, rejected)))
		last = line++;
	return last && !strstr(last, " mtag: counting by ");
}

void check_signature(const struct host *host, struct check *check)
{
	static const char enrol[] =
		"mokutil --import /var/lib/dkms/mok.pub, reboot and confirm it; "
		"see signing.md in mtag's documentation.";
	static const char retry[] =
		"Load it; if that is refused: mokutil --import /var/lib/dkms/mok.pub, reboot "
		"and confirm it; see signing.md in mtag's documentation.";
	_cleanup_(freep) char *signer = NULL;
	enum trust trust = host_trust(host, &signer);

	if (!host->enforced)
		check_set(check, CHECK_OK, NULL, "not enforced%s%s",
			  signer ? "; the module is signed by " : "", signer ? signer : "");
	else if (!host->module || !*host->module)
		check_set(check, host->loaded ? CHECK_OK : CHECK_WARN,
			  "dkms signs what it builds; its key must be enrolled: see signing.md in "
			  "mtag's documentation.",
			  "enforced%s", host->loaded ? "; the loaded module was accepted" : "");
	else if (trust == TRUST_UNSIGNED)
		check_refused(host, check,
			      "Let dkms build and sign it: see signing.md in mtag's documentation.",
			      "the module is not signed", "");
	else if (trust == TRUST_UNKNOWN_KEY)
		check_refused(host, check, enrol, "the module is signed by an unknown key, of ",
			      signer ? signer : "?");
	else if (may_be_rejected(host))
		check_set(
			check, CHECK_WARN, retry,
			"this kernel has refused a module for its key, perhaps this one: a key of "
			"the name %s is known, but there may be others",
			signer ? signer : "?");
	else
		check_set(check, CHECK_OK, NULL, "enforced; the module is signed by %s%s",
			  signer ? signer : "?",
			  trust == TRUST_UNSEEN ? ", whose key only root can look up" : "");
}
