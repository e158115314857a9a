/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmtag for C++17. mtag.h documents the calls. */
#ifndef MTAG_HPP
#define MTAG_HPP

#include <mtag.h>

#include <string>

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

} /* namespace mtag */

#endif /* MTAG_HPP */
