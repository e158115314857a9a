/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * malloc-tag's names on libmtag: a program written for malloc-tag includes this
 * header in place of its own, links with -lmtag, and keeps its malloc.
 *
 * All sizes are of resident memory, and belong to the scope that owns it, whoever
 * frees it. What libmtag cannot tell, such as the number of calls of malloc, is
 * absent, unless libmtag-heap is there to count them. docs/malloc-tag.md has the whole list. C++11.
 */
#ifndef MTAG_COMPAT_MALLOC_TAG_H
#define MTAG_COMPAT_MALLOC_TAG_H

#include "mtag_compat.h"

#define MTAG_STATS_OUTPUT_JSON_ENV	  "MTAG_STATS_OUTPUT_JSON"
#define MTAG_STATS_OUTPUT_GRAPHVIZDOT_ENV "MTAG_STATS_OUTPUT_GRAPHVIZ_DOT"
#define MTAG_SNAPSHOT_INTERVAL_ENV	  "MTAG_SNAPSHOT_INTERVAL_SEC"
#define MTAG_SNAPSHOT_OUTPUT_PREFIX_ENV	  "MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH"

/* Accepted, and without effect: the module's limits apply. */
#define MTAG_DEFAULT_MAX_TREE_NODES	 256
#define MTAG_DEFAULT_MAX_TREE_LEVELS	 256
#define MTAG_GRAPHVIZ_OPTION_UNIQUE_TREE "uniquetree"
#define MTAG_SNAPSHOT_DISABLED		 0

enum MallocTagOutputFormat_e {
	MTAG_OUTPUT_FORMAT_JSON,
	MTAG_OUTPUT_FORMAT_GRAPHVIZ_DOT,
	MTAG_OUTPUT_FORMAT_HUMANFRIENDLY_TREE,
	MTAG_OUTPUT_FORMAT_ALL
};

typedef std::map<std::string, size_t> MallocTagStatMap_t;

class MallocTagEngine
{
	static bool write_one(MallocTagOutputFormat_e format, const std::string &path)
	{
		std::string text = collect_stats(format);

		if (!text.empty() && text.back() != '\n')
			text += '\n';
		return mtag_compat::store(path, text);
	}

public:
	/** Has the process tracked. The environment's variables are the program's from here on. */
	static bool init(size_t max_tree_nodes = MTAG_DEFAULT_MAX_TREE_NODES,
			 size_t max_tree_levels = MTAG_DEFAULT_MAX_TREE_LEVELS,
			 unsigned int snapshot_interval_sec = MTAG_SNAPSHOT_DISABLED)
	{
		mtag_compat::state &s = mtag_compat::global();

		(void)max_tree_nodes;
		(void)max_tree_levels;
		if (s.ready.exchange(true))
			return mtag_active();
		mtag_ignore_environment();
		s.begun = std::time(nullptr);
		s.interval = snapshot_interval_sec;
		if (!snapshot_interval_sec)
			s.interval = static_cast<unsigned>(std::strtoul(
				mtag_compat::from_environment(MTAG_SNAPSHOT_INTERVAL_ENV).c_str(),
				nullptr, 10));
		const bool tracked = !mtag_init();
		mtag_compat::enter_root();
		return tracked;
	}

	static void set_snapshot_interval(unsigned int snapshot_interval_sec)
	{
		mtag_compat::global().interval = snapshot_interval_sec;
	}

	/** The statistics as text; those of graphviz and of people are libmtag's own. */
	static std::string
	collect_stats(MallocTagOutputFormat_e format,
		      const std::string &output_options = MTAG_GRAPHVIZ_OPTION_UNIQUE_TREE)
	{
		mtag_compat::untagged meanwhile;

		(void)output_options;
		switch (format) {
		case MTAG_OUTPUT_FORMAT_JSON:
			return mtag_compat::json();
		case MTAG_OUTPUT_FORMAT_GRAPHVIZ_DOT:
			return mtag_compat::written(MTAG_DOT);
		case MTAG_OUTPUT_FORMAT_HUMANFRIENDLY_TREE:
			return mtag_compat::written(MTAG_TREE);
		default:
			return "";
		}
	}

	/** By key: get_stat_key_prefix_for_thread() + "THREAD.SCOPE.…" + ".FIGURE". */
	static MallocTagStatMap_t collect_stats()
	{
		mtag_compat::untagged meanwhile;
		std::vector<mtag_compat::node> nodes;
		MallocTagStatMap_t map;
		std::string thread, tid;
		size_t all, levels, end, trees = 0;
		const bool known = mtag_compat::read_nodes(nodes, &all);

		for (size_t first = 0; first < nodes.size(); first = end) {
			end = mtag_compat::tree_end(nodes, first, &levels);
			if (!mtag_compat::is_tree(nodes[first], &thread, &tid))
				continue;
			trees++;
			const std::string prefix = "tid" + tid + ":";
			map[prefix + ".nTreeLevels"] = levels;
			map[prefix + ".nTreeNodesInUse"] = end - first;
			for (size_t i = first; i < end; i++) {
				std::string key = prefix + thread;
				for (size_t n = 1; n < nodes[i].names.size(); n++)
					key += "." + nodes[i].names[n];
				map[key + ".nBytesSelf"] = nodes[i].self;
				map[key + ".nBytesTotal"] = nodes[i].total;
				for (const auto &f : mtag_compat::figures_of(nodes[i]))
					map[key + "." + f.key] = f.value;
			}
		}
		if (known) {
			map[".nTrees"] = trees;
			map[".nPushNodeFailures"] = mtag_compat::refused();
		}
		return map;
	}

	static std::string get_stat_key_prefix_for_thread(pid_t thread_id = 0)
	{
		if (!thread_id)
			mtag_compat::enter_root();
		return "tid" +
		       std::to_string(thread_id ? thread_id : mtag_compat::tree_of_thread()) + ":";
	}

	/** The module's limits; 0 for one that is not known. */
	static size_t get_limit(const std::string &limit_name)
	{
		unsigned long tags = 0;

		if (limit_name == "max_tree_levels")
			return 32;
		if (limit_name != "max_trees" && limit_name != "max_tree_nodes" &&
		    limit_name != "max_node_siblings")
			return 0;
		std::FILE *file = std::fopen("/sys/module/mtag/parameters/max_tags", "re");
		if (!file)
			return 0;
		if (std::fscanf(file, "%lu", &tags) != 1)
			tags = 0;
		std::fclose(file);
		return static_cast<size_t>(tags);
	}

	/** Writes to @fullpath, or where the environment says. True if all were written. */
	static bool
	write_stats(MallocTagOutputFormat_e format = MTAG_OUTPUT_FORMAT_ALL,
		    const std::string &fullpath = "",
		    const std::string &output_options = MTAG_GRAPHVIZ_OPTION_UNIQUE_TREE)
	{
		mtag_compat::untagged meanwhile;
		const bool both = format == MTAG_OUTPUT_FORMAT_ALL;
		bool any = false, good = true;
		const struct {
			MallocTagOutputFormat_e format;
			const char *variable, *end;
		} files[] = {
			{MTAG_OUTPUT_FORMAT_JSON, MTAG_STATS_OUTPUT_JSON_ENV, ".json"},
			{MTAG_OUTPUT_FORMAT_GRAPHVIZ_DOT, MTAG_STATS_OUTPUT_GRAPHVIZDOT_ENV,
			 ".dot"},
			{MTAG_OUTPUT_FORMAT_HUMANFRIENDLY_TREE, "", ""},
		};

		(void)output_options;
		for (const auto &f : files) {
			if (format != f.format && (!both || !*f.end))
				continue;
			std::string path = fullpath + (both ? f.end : "");
			if (fullpath.empty())
				path = mtag_compat::from_environment(f.variable);
			if (path.empty())
				continue;
			any = true;
			good = write_one(f.format, path) && good;
		}
		return any && good;
	}

	/** Writes PREFIX.NNNN.json and .dot if the interval is over. True if they were written. */
	static bool
	write_snapshot_if_needed(MallocTagOutputFormat_e format = MTAG_OUTPUT_FORMAT_ALL,
				 const std::string &output_prefix = "")
	{
		mtag_compat::untagged meanwhile;
		mtag_compat::state &s = mtag_compat::global();
		std::string path = output_prefix;
		struct timespec now;
		char number[16];
		long last = s.last;

		if (path.empty())
			path = mtag_compat::from_environment(MTAG_SNAPSHOT_OUTPUT_PREFIX_ENV);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!s.interval || path.empty() ||
		    (last && now.tv_sec - last < static_cast<long>(s.interval)) ||
		    !s.last.compare_exchange_strong(last, static_cast<long>(now.tv_sec)))
			return false;
		std::snprintf(number, sizeof(number), ".%04u", s.number++);
		path += number;
		if (format == MTAG_OUTPUT_FORMAT_JSON)
			path += ".json";
		else if (format == MTAG_OUTPUT_FORMAT_GRAPHVIZ_DOT)
			path += ".dot";
		return write_stats(format, path);
	}

	static size_t get_linux_vmsize_in_bytes()
	{
		return mtag_compat::statm(0);
	}

	static size_t get_linux_vmrss_in_bytes()
	{
		return mtag_compat::statm(1);
	}

	/** What malloc_info(3) writes; "" where the C library has none. */
	static std::string malloc_info()
	{
		std::string result;
#ifdef __GLIBC__
		mtag_compat::untagged meanwhile;
		char *text = nullptr;
		size_t len = 0;
		std::FILE *out = open_memstream(&text, &len);

		if (!out)
			return result;
		const int err = ::malloc_info(0, out);
		if (!std::fclose(out) && !err)
			result.assign(text, len);
		std::free(text);
#endif
		return result;
	}
};

/** A scope below the current one, as long as the object lives: in one thread. */
class MallocTagScope
{
	mtag_frame frame_;

public:
	MallocTagScope(const char *tag_name)
	    : frame_(mtag_compat::enter(mtag_compat::name(tag_name)))
	{
	}
	/** CLASS::FUNCTION */
	MallocTagScope(const char *class_name, const char *function_name)
	    : frame_(mtag_compat::enter(mtag_compat::name(class_name, function_name)))
	{
	}
	MallocTagScope(const MallocTagScope &) = delete;
	MallocTagScope &operator=(const MallocTagScope &) = delete;
	~MallocTagScope()
	{
		mtag_scope_end(&frame_);
	}
};

#endif /* MTAG_COMPAT_MALLOC_TAG_H */
