// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ingest [--hold SECONDS] FILE: reads a file into an index of its words, and
 * says which part of the program owns the memory.
 *
 *	cache		the list of blocks
 *	cache/block	the blocks of the file that were read last
 *	ingest		reading and splitting
 *	ingest/index	word -> its positions
 *
 * A worker thread builds the index, in the tag that the main thread passes to it.
 * All memory comes from the usual allocator.
 */
#include <mtag.hpp>

#include <cctype>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <unistd.h>

namespace
{

constexpr std::size_t block_size = 256 * 1024;
constexpr std::size_t cache_blocks = 16;

using block = std::vector<char>;

/* The blocks read last. Older ones are freed when no longer used. */
class block_cache
{
	const mtag::tag tag_ = mtag::tag{}.child("cache");
	std::deque<std::shared_ptr<block>> blocks_;

public:
	std::shared_ptr<block> read(std::istream &in)
	{
		mtag::scope scope{tag_};
		auto b = [&in] {
			MTAG_SCOPE("block");
			auto fresh = std::make_shared<block>(block_size);
			in.read(fresh->data(), block_size);
			fresh->resize(static_cast<std::size_t>(in.gcount()));
			return fresh;
		}();
		blocks_.push_back(b);
		if (blocks_.size() > cache_blocks)
			blocks_.pop_front();
		return b;
	}
};

/* The positions of each word. */
class word_index
{
	std::unordered_map<std::string, std::vector<std::uint64_t>> places_;
	std::string word_;
	std::uint64_t at_ = 0;

	void end_word()
	{
		if (word_.size() > 1) {
			MTAG_SCOPE("index");
			places_[word_].push_back(at_ - word_.size());
		}
		word_.clear();
	}

public:
	void add(const block &b)
	{
		for (const char c : b) {
			if (std::isalnum(static_cast<unsigned char>(c)) || c == '_')
				word_ += c;
			else
				end_word();
			at_++;
		}
	}
	void finish()
	{
		end_word();
	}
	std::size_t words() const
	{
		return places_.size();
	}
	std::uint64_t bytes() const
	{
		return at_;
	}
};

/* From the reading thread to the indexing thread; a null block ends it. */
class queue
{
	std::mutex mutex_;
	std::condition_variable changed_;
	std::deque<std::shared_ptr<block>> blocks_;

public:
	void put(std::shared_ptr<block> b)
	{
		std::unique_lock lock{mutex_};
		changed_.wait(lock, [this] { return blocks_.size() < 4; });
		blocks_.push_back(std::move(b));
		changed_.notify_all();
	}
	std::shared_ptr<block> get()
	{
		std::unique_lock lock{mutex_};
		changed_.wait(lock, [this] { return !blocks_.empty(); });
		auto b = std::move(blocks_.front());
		blocks_.pop_front();
		changed_.notify_all();
		return b;
	}
};

void ingest(std::istream &in, block_cache &blocks, word_index &words)
{
	MTAG_SCOPE("ingest");
	queue work;

	/* The worker continues in the tag of its creator. */
	std::thread worker{[&work, &words, tag = mtag::tag::current()] {
		mtag::scope scope{tag};
		while (auto b = work.get())
			words.add(*b);
		words.finish();
	}};
	while (in.good()) {
		auto b = blocks.read(in);
		if (!b->empty())
			work.put(std::move(b));
	}
	work.put(nullptr);
	worker.join();
}

void print(const char *name, const struct mtag_usage &u)
{
	std::printf("%-16s %10ju %10ju %10ju %12ju\n", name, std::uintmax_t{u.anon_bytes} / 1024,
		    std::uintmax_t{u.file_bytes} / 1024, std::uintmax_t{u.peak_rss_bytes} / 1024,
		    std::uintmax_t{u.touched_bytes} / 1024);
}

void report()
{
	const mtag::tag root, blocks = root.child("cache"), work = root.child("ingest");

	if (!mtag_active()) {
		std::puts("The mtag module is not loaded: nothing was counted.");
		return;
	}
	std::printf("%-16s %10s %10s %10s %12s\n", "KiB of", "anonymous", "file", "peak",
		    "ever touched");
	print("[untagged]", root.usage());
	for (const mtag::tag t : {blocks, blocks.child("block"), work, work.child("index")})
		print(t.path().c_str(), t.usage());
}

int usage()
{
	std::fputs("Usage: ingest [--hold SECONDS] FILE\n", stderr);
	return 1;
}

} /* namespace */

int main(int argc, char **argv)
{
	unsigned hold = 0;

	if (argc == 4 && !std::strcmp(argv[1], "--hold")) {
		hold = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
		argv += 2;
		argc -= 2;
	}
	if (argc != 2 || argv[1][0] == '-')
		return usage();
	std::ifstream in{argv[1], std::ios::binary};
	if (!in) {
		std::perror(argv[1]);
		return 1;
	}
	block_cache blocks;
	word_index words;

	ingest(in, blocks, words);
	std::printf("%zu words in %ju bytes of %s\n", words.words(), std::uintmax_t{words.bytes()},
		    argv[1]);
	report();
	std::fflush(stdout);
	sleep(hold);
	return 0;
}
