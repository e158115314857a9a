// SPDX-License-Identifier: LGPL-2.1-or-later
/* mtag_write() against the module of lib_fake.h: what it prints, where it fails, and what it leaves. */
#include <locale.h>
#include <pthread.h>

#include "lib_fake.h"

#define CALLS(id)                                                                                  \
	"\"virt_bytes\":" #id "05,\"touched_bytes\":" #id "06,\"mmaps\":" #id                      \
	"07,\"munmaps\":" #id "08,\"mremaps\":" #id "09,\"brks\":" #id "10,\"shmats\":" #id        \
	"11,\"shmdts\":" #id "12,\"lost\":1,\"overflow\":2,\"repairs\":3}"
#define SIZES(id, rss)                                                                             \
	"\"rss_bytes\":" #rss ",\"anon_bytes\":" #rss                                              \
	",\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":" #id "03,\"peak_rss_bytes\":" #id     \
	"04," CALLS(id)

/* What mtag_write() prints; the caller frees it. */
static char *written(enum mtag_format format)
{
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	CHECK(mtag_write(out, format) == 0);
	fclose(out);
	CHECK(strlen(text) == len && nothing_open());
	return text;
}

static void is_text(char *got, const char *want)
{
	CHECK(!strcmp(got, want));
	if (strcmp(got, want))
		printf("# got:  %s\n# want: %s\n", got, want);
	free(got);
}

/* Replaces the process id, which is in the text @n times. */
static const char *with_pid(const char *format)
{
	static char text[4096];
	char *end = text;

	for (; *format; format++) {
		if (*format == '@')
			end += sprintf(end, "%d", (int)getpid());
		else
			*end++ = *format;
	}
	*end = '\0';
	return text;
}

/* [untagged] 0, a 2 pages, b 3, a/x"\ 4: depth first is not by id. */
static void make_tags(void)
{
	mtag_t a = mtag_child(0, "a");

	mtag_child(0, "b");
	mtag_child(a, "x\"\\");
}

static void test_json(void)
{
	make_tags();
	is_text(written(MTAG_JSON),
		with_pid(
			"[{\"pid\":@,\"comm\":\"fake\",\"id\":0,\"tag\":\"\",\"rss_bytes\":0,"
			"\"anon_bytes\":0,\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":3,"
			"\"peak_rss_bytes\":4,\"virt_bytes\":5,\"touched_bytes\":6,\"mmaps\":7,"
			"\"munmaps\":8,\"mremaps\":9,\"brks\":10,\"shmats\":11,\"shmdts\":12,"
			"\"lost\":1,\"overflow\":2,\"repairs\":3},"
			"{\"pid\":@,\"comm\":\"fake\",\"id\":2,\"tag\":\"a\"," SIZES(
				2,
				8192) ","
				      "{\"pid\":@,\"comm\":\"fake\",\"id\":4,\"tag\":\"a/x\\\"\\\\\"," SIZES(
					      4,
					      16384) ","
						     "{\"pid\":@,\"comm\":\"fake\",\"id\":3,\"tag\":\"b\"," SIZES(
							     3, 12288) "]\n"));
}

static void test_dot(void)
{
	make_tags();
	is_text(written(MTAG_DOT),
		with_pid(
			"digraph mtag {\n  rankdir=LR;\n"
			"  node [shape=box style=filled colorscheme=reds9 fillcolor=1];\n"
			"  subgraph \"cluster_@\" {\n"
			"    \"@\" [shape=ellipse label=\"fake (@)\\n36.0KiB\"];\n"
			"    \"@/0\" [label=\"[untagged]\\nself 0\\ntotal 0 (0.0%)\" fillcolor=1 "
			"fontsize=9 tooltip=\"0\"];\n"
			"    \"@\" -> \"@/0\" [label=\"0.0%\"];\n"
			"    \"@/2\" [label=\"a\\nself 8.0KiB\\ntotal 24.0KiB (66.7%)\" fillcolor=4 "
			"fontsize=14 tooltip=\"8192\"];\n"
			"    \"@\" -> \"@/2\" [label=\"66.7%\"];\n"
			"    \"@/4\" [label=\"x\\\"\\\\\\\\\\nself 16.0KiB\\ntotal 16.0KiB (44.4%)\" "
			"fillcolor=5 fontsize=16 tooltip=\"16384\"];\n"
			"    \"@/2\" -> \"@/4\" [label=\"44.4%\"];\n"
			"    \"@/3\" [label=\"b\\nself 12.0KiB\\ntotal 12.0KiB (33.3%)\" fillcolor=4 "
			"fontsize=14 tooltip=\"12288\"];\n"
			"    \"@\" -> \"@/3\" [label=\"33.3%\"];\n"
			"  }\n}\n"));
}

static void test_tree(void)
{
	make_tags();
	is_text(written(MTAG_TREE),
		with_pid("process @ (fake)\n"
			 "TAG                    SELF      %    TOTAL      %\n"
			 "|- a                 8.0KiB  22.2%  24.0KiB  66.7%\n"
			 "|  `- x\"\\\\          16.0KiB  44.4%  16.0KiB  44.4%\n"
			 "|- b                12.0KiB  33.3%  12.0KiB  33.3%\n"
			 "`- [untagged]             0   0.0%        0   0.0%\n"
			 "total               36.0KiB 100.0%  36.0KiB 100.0%\n"));
	if (setlocale(LC_ALL, "C.UTF-8")) {
		char *text = written(MTAG_TREE);

		CHECK(strstr(text, "│  └─ x\"\\\\          16.0KiB"));
		free(text);
	}
}

/* Names and numbers from the kernel that no module sends. */
static void test_strange(void)
{
	char *text;

	make_tags();
	dumps.comm = "\"\x1b[2J\xff\xc3\xa9\xf0\x9f\x98\x80";
	text = written(MTAG_JSON);
	CHECK(strstr(text, "\"comm\":\"\\\"\\u001b[2J\\ufffd\\u00e9\\ud83d\\ude00\""));
	free(text);
	text = written(MTAG_DOT);
	CHECK(strstr(text, "label=\"\\\"\\\\x1b[2J\\\\xff"));
	free(text);
	text = written(MTAG_TREE);
	CHECK(strstr(text, "(\"\\x1b[2J\\xff"));
	free(text);
	dumps.deep_parent = true;
	free(written(MTAG_TREE));
	dumps.backwards = true;
	CHECK(mtag_write(stdout, MTAG_JSON) == -EBADMSG && nothing_open());
	dumps.backwards = false;
	for (dumps.cut = 4; dumps.cut < 600; dumps.cut += 4) {
		FILE *out = fopen("/dev/null", "w");

		mtag_write(out, MTAG_TREE);
		fclose(out);
	}
	CHECK(nothing_open());
}

static void test_many(void)
{
	char name[32], *text, *at;
	int i, rows = 0;

	for (i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "tag-%d", i);
		mtag_child(0, name);
	}
	text = written(MTAG_JSON);
	for (at = text; (at = strstr(at, "{\"pid\"")); at++)
		rows++;
	CHECK(rows == 401);
	free(text);
	/* The largest first. */
	text = written(MTAG_TREE);
	at = text;
	for (i = 399; i >= 0; i--) {
		snprintf(name, sizeof(name), "- tag-%d ", i);
		at = at ? strstr(at, name) : NULL;
	}
	CHECK(at);
	free(text);
}

static void test_deep(void)
{
	mtag_t id = 0;
	char *text;
	int i;

	for (i = 0; i < MTAG_DEPTH_MAX; i++)
		id = mtag_child(id, "n");
	text = written(MTAG_JSON);
	CHECK(strstr(text, "\"tag\":\"n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/"
			   "n/n\""));
	free(text);
	free(written(MTAG_TREE));
}

/* ---- failures ---- */

static void test_full(void)
{
	FILE *out = fopen("/dev/full", "w");
	char name[16];
	int i;

	make_tags();
	errno = 42;
	/* Less than the stream's buffer, so that only its end fails; then more. */
	CHECK(mtag_write(out, MTAG_TREE) == -ENOSPC && errno == 42);
	for (i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "tag-%d", i);
		mtag_child(0, name);
	}
	CHECK(mtag_write(out, MTAG_JSON) == -ENOSPC);
	setvbuf(out, NULL, _IONBF, 0);
	CHECK(mtag_write(out, MTAG_DOT) == -ENOSPC && nothing_open());
	fclose(out);
	out = fopen("/dev/null", "r");
	CHECK(mtag_write(out, MTAG_DOT) < 0);
	fclose(out);
}

static int fails_with(FILE *out)
{
	int err = mtag_write(out, MTAG_JSON);

	CHECK(ftell(out) == 0 && nothing_open());
	return err;
}

static void test_errors(void)
{
	FILE *out = tmpfile();

	CHECK(mtag_write(out, (enum mtag_format)3) == -EINVAL);
	CHECK(mtag_write(out, (enum mtag_format) - 1) == -EINVAL);
	CHECK(mtag_write(NULL, MTAG_JSON) == -EINVAL);
	dumps.socket_error = EAFNOSUPPORT;
	CHECK(fails_with(out) == -EAFNOSUPPORT);
	dumps.socket_error = 0;
	dumps.receive_error = ENOMEM;
	CHECK(fails_with(out) == -ENOMEM);
	dumps.receive_error = 0;
	dumps.family_error = ENOENT;
	CHECK(fails_with(out) == -ENOENT);
	dumps.family_error = 0;
	dumps.dump_error = ENOENT;
	CHECK(fails_with(out) == -ESRCH);
	dumps.dump_error = EAGAIN;
	CHECK(fails_with(out) == -EAGAIN && mtag_active());
	dumps.dump_error = 0;
	CHECK(mtag_write(out, MTAG_JSON) == 0 && ftell(out) > 0);
	fclose(out);
}

static void test_no_module(void)
{
	FILE *out = tmpfile();

	fake.open_error = ENXIO;
	CHECK(fails_with(out) == -ENOENT);
	fclose(out);
}

/* ---- its own traces ---- */

static void test_own_memory(void)
{
	make_tags();
	free(written(MTAG_JSON));
	CHECK(last_range.tag == MTAG_UNTAGGED && last_range.flags == MTAG_RANGE_PRESENT);
	CHECK(last_range.addr && last_range.len < 65536);
	/* The thread's own tag is neither used nor known. */
	CHECK(count(MTAG_IOC_THREAD) == 0);
}

static FILE *shared;

static void *write_often(void *arg)
{
	int i;

	for (i = 0; i < 50; i++)
		CHECK(mtag_write(shared, MTAG_JSON) == 0);
	return arg;
}

static void test_threads(void)
{
	pthread_t threads[8];
	char *text, *at, *one = (make_tags(), written(MTAG_JSON));
	size_t len, n = strlen(one);
	int i;

	shared = open_memstream(&text, &len);
	for (i = 0; i < 8; i++)
		CHECK(!pthread_create(&threads[i], NULL, write_often, NULL));
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	fclose(shared);
	CHECK(len == 400 * n);
	for (at = text; at < text + len && !memcmp(at, one, n); at += n)
		;
	CHECK(at == text + len && nothing_open());
	free(text);
	free(one);
}

static const struct tap_test tests[] = {
	{"JSON has the keys of mtagctl -j show, depth first", test_json},
	{"DOT is what mtagctl show -f dot prints", test_dot},
	{"a tree is what mtagctl tree prints, in the locale's characters", test_tree},
	{"names and messages that no module sends do no harm", test_strange},
	{"hundreds of tags are written, and ordered by size", test_many},
	{"the deepest path is written", test_deep},
	{"a full disk is an error, wherever it is noticed", test_full},
	{"every other error is told, and then nothing is written", test_errors},
	{"without a module it says so and writes nothing", test_no_module},
	{"its memory is untagged, and the thread stays as it is", test_own_memory},
	{"threads write to one stream, one after the other", test_threads},
};
TAP_MAIN(tests)
