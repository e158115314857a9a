/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What malloc_tag.h is made of: the scopes of each thread as a tree, read back
 * by mtag_write(). No program includes this itself.
 */
#ifndef MTAG_COMPAT_H
#define MTAG_COMPAT_H

#include <mtag.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mtag_compat
{

/* What libmtag-heap counted under a tag, as its mtag_heap_usage() has it. */
struct heap {
	std::uint64_t asked = 0, allocated = 0, objects = 0;
	std::uint64_t asked_freed = 0, allocated_freed = 0, objects_freed = 0, reserved[2] = {};
};

/* A tag as mtag_write() has it; the first name is a thread's, "NAME:TID". */
struct node {
	std::vector<std::string> names;
	size_t self = 0, total = 0;
	bool has_heap = false;
	heap of_heap, of_all_heap; /* its own, and with all tags below it */
};

/* What lives as long as the process; in a header a static member would need C++17. */
struct state {
	std::atomic<bool> ready{false};
	std::atomic<unsigned> interval{0}, number{0};
	std::atomic<std::size_t> renamed{0}; /* names that libmtag counts as failures */
	std::atomic<long> last{0};
	std::time_t begun = 0;
};

inline state &global()
{
	static state s;
	return s;
}

/* Memory of the reports is nobody's. */
class untagged
{
	mtag_frame frame_;

public:
	untagged() : frame_(mtag_scope_tag(MTAG_UNTAGGED))
	{
	}
	untagged(const untagged &) = delete;
	untagged &operator=(const untagged &) = delete;
	~untagged()
	{
		mtag_scope_end(&frame_);
	}
};

/* ---- scopes ---- */

/* A name as the module takes it: at most 63 bytes, printable, without '/'. */
struct name {
	char text[64];

	explicit name(const char *from, const char *second = nullptr)
	{
		size_t n = add(0, from);

		if (second)
			n = add(add(n, "::"), second);
		while (n && n == 63 && (text[n - 1] & 0x80))
			n--; /* perhaps half a character */
		if (!n)
			text[n++] = '_';
		text[n] = '\0';
	}
	size_t add(size_t n, const char *from)
	{
		for (; *from && n < 63; from++)
			text[n++] = static_cast<unsigned char>(*from) < ' ' || *from == '/' ||
						    *from == 0x7f
					    ? '_'
					    : *from;
		return n;
	}
	void plain()
	{
		for (char *p = text; *p; p++)
			if (*p & 0x80)
				*p = '_';
	}
};

inline mtag_t child(mtag_t parent, name n)
{
	const int saved = errno;
	mtag_t id = mtag_child(parent, n.text);

	if (id == parent && errno == EINVAL) {
		global().renamed++;
		n.plain();
		id = mtag_child(parent, n.text);
	}
	errno = saved;
	return id;
}

/* Whose tree this thread's scopes are in: its own, or in a forked child its creator's. */
inline long &tree_of_thread()
{
	static thread_local long tid = 0;
	return tid;
}

/* What a thread does outside of all scopes belongs to the root of its tree. */
inline void enter_root()
{
	char thread[17] = "", root[48];

	if (tree_of_thread())
		return;
	tree_of_thread() = syscall(SYS_gettid);
	prctl(PR_GET_NAME, thread);
	std::snprintf(root, sizeof(root), "%s:%ld", thread, tree_of_thread());
	mtag_enter(child(MTAG_UNTAGGED, name(root)));
}

/* Scopes that were refused. In this order: a name is counted as renamed after it has failed. */
inline size_t refused()
{
	const size_t renamed = global().renamed;

	return static_cast<size_t>(mtag_failures()) - renamed;
}

inline mtag_frame enter(const name &n)
{
	enter_root();
	return mtag_scope_tag(child(mtag_current(), n));
}

/* ---- reading ---- */

/* What mtag_write() writes; "" if it fails. */
inline std::string written(mtag_format format)
{
	char *text = nullptr;
	size_t len = 0;
	std::FILE *out = open_memstream(&text, &len);
	std::string result;

	if (!out)
		return result;
	const int err = mtag_write(out, format);
	if (!std::fclose(out) && !err)
		result.assign(text, len);
	std::free(text);
	return result;
}

/* The names of a path in JSON; *@at is behind its first quote, and then behind its last. */
inline std::vector<std::string> names_at(const char **at)
{
	std::vector<std::string> names(1);

	for (; **at && **at != '"'; ++*at) {
		if (**at == '/') {
			names.emplace_back();
			continue;
		}
		if (**at == '\\' && (*at)[1])
			++*at;
		names.back() += **at;
	}
	return names;
}

/* What the program asked malloc() for under a tag. False if libmtag-heap is not there. */
inline bool read_heap(mtag_t tag, heap *h)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
	typedef int usage(mtag_t, heap *);
	static usage *const ask = reinterpret_cast<usage *>(dlsym(RTLD_DEFAULT, "mtag_heap_usage"));

	return ask && !ask(tag, h);
#else
	(void)tag;
	(void)h;
	return false;
#endif
}

inline void add_heap(heap &to, const heap &h)
{
	to.asked += h.asked;
	to.asked_freed += h.asked_freed;
}

/* All tags but the untagged, depth first, with totals. False if there is nobody to ask. */
inline bool read_nodes(std::vector<node> &nodes, size_t *all)
{
	static const char id_key[] = "\"id\":", tag_key[] = "\"tag\":\"",
			  rss_key[] = "\"rss_bytes\":";
	const std::string text = written(MTAG_JSON);
	const char *at = text.c_str();
	std::vector<size_t> above;

	*all = 0;
	while ((at = std::strstr(at, id_key))) {
		node n;
		const mtag_t id =
			static_cast<mtag_t>(std::strtoul(at + sizeof(id_key) - 1, nullptr, 10));

		at = std::strstr(at, tag_key);
		if (!at)
			break;
		at += sizeof(tag_key) - 1;
		n.names = names_at(&at);
		at = std::strstr(at, rss_key);
		if (!at)
			break;
		n.self = static_cast<size_t>(std::strtoull(at + sizeof(rss_key) - 1, nullptr, 10));
		n.total = n.self;
		*all += n.self;
		if (n.names[0].empty())
			continue;
		n.has_heap = read_heap(id, &n.of_heap);
		n.of_all_heap = n.of_heap;
		above.resize(n.names.size() - 1);
		for (size_t i : above) {
			nodes[i].total += n.self;
			add_heap(nodes[i].of_all_heap, n.of_heap);
		}
		above.push_back(nodes.size());
		nodes.push_back(n);
	}
	return !text.empty();
}

/* A thread's root: splits "NAME:TID". A dead thread's is one only as long as it owns something. */
inline bool is_tree(const node &n, std::string *thread, std::string *tid)
{
	const size_t colon = n.names[0].rfind(':');

	if (n.names.size() != 1 || colon == std::string::npos)
		return false;
	*thread = n.names[0].substr(0, colon);
	*tid = n.names[0].substr(colon + 1);
	if (tid->empty() || tid->find_first_not_of("0123456789") != std::string::npos)
		return false;
	return n.total || !access(("/proc/self/task/" + *tid).c_str(), F_OK);
}

/* The first node behind the tree that begins at @first. */
inline size_t tree_end(const std::vector<node> &nodes, size_t first, size_t *levels)
{
	size_t end = first;

	for (*levels = 0; end < nodes.size() && nodes[end].names[0] == nodes[first].names[0]; end++)
		if (nodes[end].names.size() > *levels)
			*levels = nodes[end].names.size();
	return end;
}

/* One of the numbers of /proc/self/statm, in bytes; 0 if it cannot be read. */
inline size_t statm(int field)
{
	std::FILE *file = std::fopen("/proc/self/statm", "re");
	unsigned long pages[2] = {0, 0};

	if (!file)
		return 0;
	if (std::fscanf(file, "%lu %lu", &pages[0], &pages[1]) != 2)
		pages[0] = pages[1] = 0;
	std::fclose(file);
	return static_cast<size_t>(pages[field]) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

/* ---- JSON ---- */

inline std::string quoted(const std::string &text)
{
	std::string result = "\"";

	for (char c : text) {
		if (c == '"' || c == '\\')
			result += '\\';
		result += c;
	}
	return result + '"';
}

inline std::string time_text(std::time_t t)
{
	char text[64];
	struct tm tm;

	localtime_r(&t, &tm);
	text[std::strftime(text, sizeof(text), "%Y-%m-%d @ %H:%M:%S %Z", &tm)] = '\0';
	return text;
}

inline void add(std::string &out, const char *key, size_t value)
{
	out += quoted(key) + ":" + std::to_string(value);
}

struct figure {
	const char *key;
	size_t value;
};

/* What is allocated is resident memory, or with libmtag-heap what malloc-tag counts. */
inline std::vector<figure> figures_of(const node &n)
{
	if (!n.has_heap)
		return {{"nBytesTotalAllocated", n.total}, {"nBytesSelfAllocated", n.self}};
	return {
		{"nBytesTotalAllocated", static_cast<size_t>(n.of_all_heap.asked)},
		{"nBytesTotalFreed", static_cast<size_t>(n.of_all_heap.asked_freed)},
		{"nBytesSelfAllocated", static_cast<size_t>(n.of_heap.asked)},
		{"nBytesSelfFreed", static_cast<size_t>(n.of_heap.asked_freed)},
		{"nCallsTo_malloc", static_cast<size_t>(n.of_heap.objects)},
		{"nCallsTo_free", static_cast<size_t>(n.of_heap.objects_freed)},
	};
}

/* The node at *@i and all below it, one after the other. */
inline void add_scope(std::string &out, const std::vector<node> &nodes, size_t *i, size_t all,
		      const std::string &scope)
{
	const size_t depth = nodes[*i].names.size();
	const node &n = nodes[(*i)++];
	const std::uint64_t hundredths = all ? std::uint64_t{n.total} * 10000 / all : 0;
	char percent[32];
	bool more = false;

	std::snprintf(percent, sizeof(percent), "%u.%02u", static_cast<unsigned>(hundredths / 100),
		      static_cast<unsigned>(hundredths % 100));
	out += quoted("scope_" + scope) + ":{";
	for (const auto &f : figures_of(n)) {
		add(out, f.key, f.value);
		out += ',';
	}
	out.pop_back();
	out += std::string(",\"nWeightPercentage\":") + percent + ",\"nestedScopes\":{";
	while (*i < nodes.size() && nodes[*i].names.size() > depth) {
		if (more)
			out += ',';
		more = true;
		add_scope(out, nodes, i, all, nodes[*i].names.back());
	}
	out += "}}";
}

inline std::string json()
{
	std::vector<node> nodes;
	std::string out = "{", thread, tid;
	size_t all, levels, end;
	const bool known = read_nodes(nodes, &all);

	add(out, "PID", static_cast<size_t>(getpid()));
	if (global().begun)
		out += ",\"tmStartProfiling\":" + quoted(time_text(global().begun));
	out += ",\"tmCurrentSnapshot\":" + quoted(time_text(std::time(nullptr)));
	for (size_t i = 0; i < nodes.size(); i = end) {
		end = tree_end(nodes, i, &levels);
		if (!is_tree(nodes[i], &thread, &tid))
			continue;
		out += ",\"tree_for_TID" + tid + "\":{\"TID\":" + tid +
		       ",\"ThreadName\":" + quoted(thread) + ",";
		add(out, "nTreeLevels", levels);
		add(out += ',', "nTreeNodesInUse", end - i);
		add_scope(out += ',', nodes, &i, all, thread);
		out += '}';
	}
	if (known) {
		add(out += ',', "nPushNodeFailures", refused());
		add(out += ',', "nTotalNetTrackedBytes", all);
	}
	add(out += ',', "vmSizeNowBytes", statm(0));
	add(out += ',', "vmRSSNowBytes", statm(1));
	return out + "}";
}

/* ---- files ---- */

inline bool store(const std::string &path, const std::string &text)
{
	const std::string beside = path + "." + std::to_string(getpid()) + ".tmp";
	const int fd =
		open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	std::FILE *file = fd < 0 ? nullptr : fdopen(fd, "w");
	bool good = file && !text.empty() &&
		    std::fwrite(text.data(), 1, text.size(), file) == text.size();

	if (file)
		good = !std::fclose(file) && good;
	good = good && !std::rename(beside.c_str(), path.c_str());
	if (!good && fd >= 0)
		unlink(beside.c_str());
	return good;
}

inline std::string from_environment(const char *variable)
{
	const char *value = secure_getenv(variable);
	return value ? value : "";
}

} /* namespace mtag_compat */

#endif /* MTAG_COMPAT_H */
