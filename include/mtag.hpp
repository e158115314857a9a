/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmtag for C++17. mtag.h documents the calls. */
#ifndef MTAG_HPP
#define MTAG_HPP

#include <mtag.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace mtag
{

/** A tag: a value to keep, to pass to other threads and to query. */
class tag
{
	mtag_t id_ = MTAG_UNTAGGED;

public:
	constexpr tag() noexcept = default;
	constexpr explicit tag(mtag_t id) noexcept : id_{id}
	{
	}
	static tag current() noexcept
	{
		return tag{mtag_current()};
	}
	constexpr mtag_t id() const noexcept
	{
		return id_;
	}
	tag child(const char *name) const noexcept
	{
		return tag{mtag_child(id_, name)};
	}
	tag child(const std::string &name) const noexcept
	{
		return child(name.c_str());
	}
	/** All 0 on failure. */
	struct mtag_usage usage() const noexcept
	{
		struct mtag_usage u;
		::mtag_usage(id_, &u);
		return u;
	}
	/** "" on failure. */
	std::string path() const
	{
		char buf[MTAG_PATH_BYTES];
		const char *path = mtag_path(id_, buf, sizeof(buf));
		return path ? path : "";
	}
	friend constexpr bool operator==(tag a, tag b) noexcept
	{
		return a.id_ == b.id_;
	}
	friend constexpr bool operator!=(tag a, tag b) noexcept
	{
		return a.id_ != b.id_;
	}
};

/**
 * Enters a tag for as long as the object lives. The thread that created it must
 * destroy it, in the reverse order of creation.
 *
 * A scope by name looks the name up each time (no system call after the
 * first); MTAG_SCOPE() remembers it at its place, and is nearly free.
 */
class [[nodiscard]] scope
{
	mtag_frame frame_;

public:
	/** Enters the child of the current tag with this name. */
	explicit scope(const char *name) noexcept : frame_{mtag_scope_slow(nullptr, name)}
	{
	}
	explicit scope(const std::string &name) noexcept : scope{name.c_str()}
	{
	}
	/** Enters this tag. */
	explicit scope(mtag_t id) noexcept : frame_{mtag_scope_tag(id)}
	{
	}
	explicit scope(tag t) noexcept : scope{t.id()}
	{
	}
	scope(scope &&other) noexcept : frame_{other.frame_}
	{
		other.frame_.word = nullptr;
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;
	scope &operator=(scope &&) = delete;
	~scope() noexcept
	{
		if (frame_.word)
			mtag_scope_end(&frame_);
	}
};

/**
 * The tag of something that runs now on this thread, now on that: a coroutine,
 * a fiber, a job of several steps. It begins with the creator's current tag.
 *
 * No mtag::scope and no MTAG_SCOPE may be open at suspend(): they belong to a
 * thread. mtag_enter() and mtag_leave() may be on either side of it.
 */
class carried
{
	mtag_t mine_ = mtag_current(), outer_ = MTAG_UNTAGGED;

public:
	/** The thread that goes on with it calls this first, */
	void resume() noexcept
	{
		outer_ = mtag_enter(mine_);
	}
	/** and this last: it has its own tag again. */
	void suspend() noexcept
	{
		mine_ = mtag_current();
		mtag_leave(outer_);
	}
};

/** A function that runs, wherever it is called, in the tag in which carry() was called. */
template <typename Function> auto carry(Function &&function)
{
	return [tag = tag::current(),
		function = std::forward<Function>(function)](auto &&...args) mutable
	       -> decltype(auto) {
		scope s{tag};
		return function(std::forward<decltype(args)>(args)...);
	};
}

/** What mtag_write() writes; "" on failure. */
inline std::string text(mtag_format format)
{
	std::string result;
	char *buf = nullptr;
	std::size_t len = 0;
	std::FILE *out = open_memstream(&buf, &len);

	if (!out)
		return result;
	const int err = mtag_write(out, format);
	if (!std::fclose(out) && !err)
		result.assign(buf, len);
	std::free(buf);
	return result;
}

} /* namespace mtag */

#endif /* MTAG_HPP */
