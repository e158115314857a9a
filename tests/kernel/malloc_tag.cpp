// SPDX-License-Identifier: GPL-2.0
/*
 * A program as one writes it for malloc-tag, with all that malloc-tag documents, and the sums that
 * it gets wrong. t_malloc_tag.sh runs it; without the module it must run, too, and find no figures.
 *   malloc_tag DIR      files go there
 *   malloc_tag          snapshots, as the environment says
 */
#include "malloc_tag_figures.hpp"

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

static std::string contents(const std::string &path)
{
	std::ifstream in(path);
	std::stringstream text;

	text << in.rdbuf();
	return text.str();
}

/* ---- what malloc-tag gets wrong ---- */

static void owner_and_freer()
{
	char *p;

	{
		MallocTagScope scope("owner");
		p = take(mib);
	}
	ok(about(figure("owner"), mib), "what a scope allocates is its own");
	{
		MallocTagScope scope("freer");
		free(p);
	}
	ok(figure("owner") < 16384, "freed elsewhere, it is taken from its owner");
	ok(figure("freer") < 16384, "and not from the one that freed it");
}

static void prefixes()
{
	char *a, *b;

	{
		MallocTagScope scope("FuncA");
		a = take(2 * mib);
	}
	{
		MallocTagScope scope("Func");
		b = take(4 * mib);
	}
	ok(about(figure("FuncA"), 2 * mib) && about(figure("Func"), 4 * mib),
	   "a scope is not another one whose name begins alike");
	free(a);
	free(b);
}

static void reallocated()
{
	char *p;

	{
		MallocTagScope scope("grown");
		p = take(mib);
		p = static_cast<char *>(realloc(p, 8 * mib));
		memset(p, 1, 8 * mib);
	}
	ok(about(figure("grown"), 8 * mib), "realloc counts what is there, and nothing twice");
	free(p);
}

static void aligned()
{
	void *p = nullptr;

	{
		MallocTagScope scope("aligned");
		if (!posix_memalign(&p, 4096, mib))
			memset(p, 1, mib);
	}
	ok(about(figure("aligned"), mib), "posix_memalign is counted");
	free(p);
}

static void same_name_twice()
{
	std::string dot;
	size_t nodes = 0;

	{
		MallocTagScope scope("one");
		MallocTagScope leaf("leaf");
	}
	{
		MallocTagScope scope("two");
		MallocTagScope leaf("leaf");
	}
	dot = MallocTagEngine::collect_stats(MTAG_OUTPUT_FORMAT_GRAPHVIZ_DOT);
	for (size_t at = dot.find("[label=\"leaf\\n"); at != std::string::npos;
	     at = dot.find("[label=\"leaf\\n", at + 1))
		nodes++;
	ok(nodes == 2, "two scopes of one name are two nodes of the graph");
}

static size_t trees()
{
	return MallocTagEngine::collect_stats()[".nTrees"];
}

static void dead_threads()
{
	const size_t before = trees();
	void *p = nullptr;
	std::string text;

	for (int i = 0; i < 20; i++)
		std::thread([] {
			MallocTagScope scope("short");
			free(take(mib));
		}).join();
	malloc_trim(0);
	ok(trees() < before + 20, "threads that have ended and own nothing are gone");
	std::thread([&p] {
		MallocTagScope scope("left");
		p = mmap(nullptr, mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(p, 1, mib);
	}).join();
	ok(MallocTagEngine::collect_stats(MTAG_OUTPUT_FORMAT_JSON).find("\"scope_left\"") !=
		   std::string::npos,
	   "what a thread has left behind is shown");
	munmap(p, mib);
	/* The C library keeps the stack, and so the tree; the scope has nothing. */
	text = MallocTagEngine::collect_stats(MTAG_OUTPUT_FORMAT_JSON);
	ok(text.find("\"scope_left\"") == text.find("\"scope_left\":{\"nBytesTotalAllocated\":0"),
	   "until it is freed");
}

static void many_siblings()
{
	bool there = true;
	MallocTagScope scope("siblings");

	for (int i = 0; i < 300; i++)
		MallocTagScope one(("a-name-of-more-than-thirty-one-bytes-" + std::to_string(i))
					   .c_str());
	for (int i = 0; i < 300; i += 99)
		there &= figure("siblings.a-name-of-more-than-thirty-one-bytes-" +
				std::to_string(i)) != ~size_t{0};
	ok(there, "hundreds of scopes with long names stand beside each other");
}

/* They all live at once; what each of them has is asked before any ends. */
static void many_threads()
{
	const size_t count = 200, before = trees(), size = 4 * 4096;
	size_t ready = 0, right = 0;
	std::vector<std::thread> threads;
	std::condition_variable changed;
	std::mutex lock;
	bool asked = false;

	for (size_t i = 0; i < count; i++)
		threads.emplace_back([&] {
			MallocTagScope scope("crowd");
			char *p = map_pages(size);
			std::unique_lock<std::mutex> held(lock);

			ready += p != nullptr;
			changed.notify_all();
			changed.wait(held, [&] { return asked; });
			if (p)
				munmap(p, size);
		});
	{
		std::unique_lock<std::mutex> held(lock);
		changed.wait(held, [&] { return ready == count; });
	}
	for (const auto &stat : MallocTagEngine::collect_stats()) {
		const std::string end = ".crowd.nBytesSelfAllocated";

		/* A page each is the stack's, where the scope was the first to come so deep. */
		right += stat.first.size() > end.size() &&
			 !stat.first.compare(stat.first.size() - end.size(), end.size(), end) &&
			 stat.second >= size && stat.second <= size + 2 * 4096;
	}
	ok(trees() == before + count && right == count,
	   std::to_string(right) +
		   " of 200 threads at once have a tree each, and their own memory in it");
	{
		std::unique_lock<std::mutex> held(lock);
		asked = true;
	}
	changed.notify_all();
	for (auto &thread : threads)
		thread.join();
}

/* ---- limits ---- */

static char *deep[48];

/* A scope in a scope in a scope …: each has 64 KiB. */
static void nest(size_t level, size_t levels)
{
	MallocTagScope scope(("level-" + std::to_string(level)).c_str());

	deep[level] = map_pages(65536);
	if (level < levels)
		nest(level + 1, levels);
}

static void too_many_levels()
{
	/* The thread's own node is the first level. */
	const size_t limit = MallocTagEngine::get_limit("max_tree_levels"), last = limit - 1;
	const size_t levels = last + 9, before = failures();
	const mtag_t outside = mtag_current();
	std::string path;

	nest(1, levels);
	ok(mtag_current() == outside, "scopes too deep to have nodes leave as they have entered");
	ok(failures() == before + 9, "each of nine scopes below the last level is a failure");
	for (size_t i = 1; i <= last; i++) {
		path += (i > 1 ? ".level-" : "level-") + std::to_string(i);
		if (i == last - 1)
			ok(about(figure(path), 65536), "the last level but one has its own memory");
	}
	ok(about(figure(path), 10 * 65536), "the last one has its own and that of all nine below");
	ok(MallocTagEngine::collect_stats()[MallocTagEngine::get_stat_key_prefix_for_thread() +
					    ".nTreeLevels"] == limit,
	   "and there are as many levels as there may be");
	for (size_t i = 1; i <= levels; i++)
		munmap(deep[i], 65536);
}

static void strange_names()
{
	const size_t before = failures();

	{
		MallocTagScope scope("gr\xfc\xdf");
		MallocTagScope below("a/b\n");
	}
	ok(failures() == before && figure("gr__.a_b_") != ~size_t{0},
	   "a name that no tag may have is changed, which is no failure");
}

/* The tree of this process is full from here on. */
static void too_many_nodes()
{
	const size_t limit = MallocTagEngine::get_limit("max_tree_nodes");
	size_t before, made = 0;
	uint64_t counted;
	char *p, *q;

	MallocTagScope scope("full");
	before = failures();
	counted = mtag_failures();
	for (; made <= limit && mtag_failures() == counted; made++)
		MallocTagScope one(("n-" + std::to_string(made)).c_str());
	ok(made > 1 && failures() == before + 1, "the first scope beyond the limit is a failure");
	{
		MallocTagScope refused("refused");
		MallocTagScope below("below");
		p = map_pages(mib);
	}
	{
		MallocTagScope known("n-0");
		q = map_pages(mib);
	}
	ok(failures() == before + 3, "so are two more, one in the other");
	ok(about(figure("full"), mib), "their memory is that of the scope around them");
	ok(about(figure("full.n-0"), mib), "one that exists has its own as before");
	munmap(p, mib);
	munmap(q, mib);
}

/* ---- what malloc-tag documents ---- */

static void figures()
{
	MallocTagStatMap_t stats = MallocTagEngine::collect_stats();
	std::string prefix = MallocTagEngine::get_stat_key_prefix_for_thread();
	bool honest = true;

	{
		MallocTagScope scope("Class", "function");
		MallocTagScope below("below");
		char *p = take(mib);
		ok(about(figure("Class::function", "nBytesTotalAllocated"), mib) &&
			   figure("Class::function") < 16384,
		   "a total is that of all scopes below");
		free(p);
	}
	for (const auto &stat : stats)
		honest &= stat.first.find("nCallsTo_") == std::string::npos &&
			  stat.first.find("Freed") == std::string::npos &&
			  stat.first.find("nTimes") == std::string::npos;
	ok(honest, "what cannot be known is absent");
	ok(stats.count(prefix + ".nTreeNodesInUse") && stats.count(".nTrees"),
	   "each tree has its figures");
	ok(MallocTagEngine::get_limit("max_tree_nodes") >= 256 &&
		   MallocTagEngine::get_limit("max_tree_levels") == 32 &&
		   !MallocTagEngine::get_limit("nonsense"),
	   "the limits are the module's");
}

static void process_sizes()
{
	unsigned long size = 0;
	std::ifstream status("/proc/self/status");
	std::string word;

	while (status >> word)
		if (word == "VmSize:")
			status >> size;
	ok(MallocTagEngine::get_linux_vmsize_in_bytes() / mib == size * 1024 / mib,
	   "a kB of the kernel's is 1024 bytes");
	ok(MallocTagEngine::get_linux_vmrss_in_bytes() > mib, "the process's RSS is told");
	ok(MallocTagEngine::malloc_info().find("</malloc>") != std::string::npos,
	   "malloc_info is whole");
}

static void files(const std::string &dir)
{
	setenv(MTAG_STATS_OUTPUT_JSON_ENV, (dir + "/stats.json").c_str(), 1);
	setenv(MTAG_STATS_OUTPUT_GRAPHVIZDOT_ENV, (dir + "/stats.dot").c_str(), 1);
	ok(MallocTagEngine::write_stats(), "statistics go where the environment says");
	ok(contents(dir + "/stats.json").compare(0, 7, "{\"PID\":") == 0 &&
		   contents(dir + "/stats.dot").compare(0, 7, "digraph") == 0,
	   "in both forms");
	ok(MallocTagEngine::write_stats(MTAG_OUTPUT_FORMAT_HUMANFRIENDLY_TREE, dir + "/tree") &&
		   contents(dir + "/tree").find("total") != std::string::npos,
	   "or where the call says");
	ok(!MallocTagEngine::write_stats(MTAG_OUTPUT_FORMAT_JSON, "/dev/null/none"),
	   "what cannot be written is told");
	MallocTagEngine::set_snapshot_interval(1000);
	ok(MallocTagEngine::write_snapshot_if_needed(MTAG_OUTPUT_FORMAT_ALL, dir + "/snap") &&
		   !contents(dir + "/snap.0000.json").empty() &&
		   !contents(dir + "/snap.0000.dot").empty(),
	   "the first snapshot is written");
	ok(!MallocTagEngine::write_snapshot_if_needed(MTAG_OUTPUT_FORMAT_ALL, dir + "/snap"),
	   "the next one is when the interval is over");
	MallocTagEngine::set_snapshot_interval(MTAG_SNAPSHOT_DISABLED);
	ok(!MallocTagEngine::write_snapshot_if_needed(MTAG_OUTPUT_FORMAT_ALL, dir + "/snap"),
	   "none is where snapshots are disabled");
}

static double now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

/* As the environment says, each 2 s. t_malloc_tag.sh looks for 4 MiB more in the second. */
static void snapshots()
{
	MallocTagScope scope("grows");
	const double began = now();
	const bool wanted = MallocTagEngine::write_snapshot_if_needed();
	char *p;

	ok(wanted, "the first call writes a snapshot");
	if (!wanted)
		return;
	p = map_pages(4 * mib);
	while (!MallocTagEngine::write_snapshot_if_needed() && now() < began + 60)
		usleep(10000);
	/* The interval is one of whole seconds of the clock. */
	ok(now() > began + 1 && now() < began + 60, "a later one does when the interval is over");
	munmap(p, 4 * mib);
}

int main(int argc, char **argv)
{
	if (!begin()) {
		MallocTagScope scope("nobody looks");
		ok(MallocTagEngine::collect_stats().empty(),
		   "without the module there are no figures");
		ok(MallocTagEngine::collect_stats(MTAG_OUTPUT_FORMAT_JSON).find("tree_for") ==
			   std::string::npos,
		   "nor trees");
		ok(!MallocTagEngine::write_stats(MTAG_OUTPUT_FORMAT_GRAPHVIZ_DOT, "/tmp/none"),
		   "nor a graph");
	} else if (argc < 2) {
		snapshots();
	} else {
		owner_and_freer();
		prefixes();
		reallocated();
		aligned();
		same_name_twice();
		dead_threads();
		many_siblings();
		figures();
		files(argv[1]);
		many_threads();
		too_many_levels();
		strange_names();
		too_many_nodes();
	}
	process_sizes();
	return end();
}
