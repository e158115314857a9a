// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How a tag goes with the work: to the threads of a pool, and with a coroutine that resumes on
 * another thread each time. See docs/handoff.md.
 *
 *	requests/NAME	what a request has allocated, on whichever thread
 *	pool		what the pool needs for itself
 */
#include <mtag.hpp>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/mman.h>

#if __cplusplus >= 202002L && __has_include(<coroutine>)
#include <coroutine>
#define HAVE_COROUTINES 1
#endif

namespace
{

constexpr std::size_t mib = 1 << 20;

/* Fresh memory, so that the sums are round: each page belongs to the tag that touches it. */
class memory
{
	void *p_;
	std::size_t size_;

public:
	explicit memory(std::size_t size)
	    : p_{mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)},
	      size_{size}
	{
		if (p_ == MAP_FAILED)
			throw std::bad_alloc{};
		madvise(p_, size, MADV_NOHUGEPAGE);
	}
	memory(const memory &) = delete;
	memory &operator=(const memory &) = delete;
	~memory()
	{
		munmap(p_, size_);
	}
	void touch(std::size_t from, std::size_t to) const
	{
		std::memset(static_cast<char *>(p_) + from, 1, to - from);
	}
};

/* Threads in a tag of their own. A job runs in the tag of the thread that submits it. */
class pool
{
	std::mutex mutex_;
	std::condition_variable changed_;
	std::deque<std::function<void()>> jobs_;
	std::vector<std::thread> threads_;
	bool ends_ = false;

	void work()
	{
		for (;;) {
			std::unique_lock lock{mutex_};
			changed_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
			if (jobs_.empty())
				return;
			auto job = std::move(jobs_.front());
			jobs_.pop_front();
			lock.unlock();
			job();
		}
	}

public:
	explicit pool(unsigned n)
	{
		MTAG_SCOPE("pool"); /* the threads begin in it */
		while (n-- > 0)
			threads_.emplace_back([this] { work(); });
	}
	pool(const pool &) = delete;
	pool &operator=(const pool &) = delete;
	~pool()
	{
		{
			std::lock_guard lock{mutex_};
			ends_ = true;
		}
		changed_.notify_all();
		for (auto &thread : threads_)
			thread.join();
	}
	template <typename Job> void submit(Job &&job)
	{
		{
			std::lock_guard lock{mutex_};
			jobs_.emplace_back(mtag::carry(std::forward<Job>(job)));
		}
		changed_.notify_one();
	}
};

/* A request that is one job. */
void plain_request(pool &workers, const memory &m)
{
	std::promise<void> done;

	{
		MTAG_SCOPE("requests");
		MTAG_SCOPE("plain");
		workers.submit([&] {
			m.touch(0, 2 * mib);
			done.set_value();
		});
	}
	done.get_future().wait();
}

#ifdef HAVE_COROUTINES
/*
 * A coroutine that carries its tag. Each co_await passes through await_transform(), so no coroutine
 * of this type can forget it.
 */
struct request {
	struct promise_type {
		mtag::carried tag;
		std::promise<void> done;

		request get_return_object()
		{
			return {done.get_future()};
		}
		auto initial_suspend() noexcept
		{
			tag.resume();
			return std::suspend_never{};
		}
		auto final_suspend() noexcept
		{
			tag.suspend();
			return std::suspend_never{};
		}
		void return_void()
		{
			done.set_value();
		}
		void unhandled_exception()
		{
			done.set_exception(std::current_exception());
		}
		template <typename Awaiter> auto await_transform(Awaiter inner)
		{
			struct carrying {
				mtag::carried &tag;
				Awaiter inner;

				bool await_ready()
				{
					return false;
				}
				void await_suspend(std::coroutine_handle<> handle)
				{
					/*
					 * Before giving the handle away: then it may run already.
					 */
					tag.suspend();
					inner.await_suspend(handle);
				}
				auto await_resume()
				{
					tag.resume();
					return inner.await_resume();
				}
			};
			return carrying{tag, inner};
		}
	};
	std::future<void> done;
};

/* co_await of this resumes on a thread of the pool. */
struct on_pool {
	pool &workers;

	void await_suspend(std::coroutine_handle<> handle)
	{
		workers.submit([handle] { handle.resume(); });
	}
	void await_resume()
	{
	}
};

request coroutine_request(pool &workers, const memory &m, const char *name)
{
	const mtag_t before = mtag_enter(mtag::tag{}.child("requests").child(name).id());

	m.touch(0, mib);
	for (std::size_t n = 1; n < 4; n++) {
		co_await on_pool{workers};
		m.touch(n * mib, (n + 1) * mib);
	}
	mtag_leave(before);
}
#endif

void print(mtag::tag tag)
{
	std::printf("%-20s %6ju KiB\n", tag.path().c_str(),
		    std::uintmax_t{tag.usage().anon_bytes} / 1024);
}

} /* namespace */

int main()
{
	const mtag::tag requests = mtag::tag{}.child("requests");
	const memory plain{2 * mib}, first{4 * mib}, second{4 * mib};
	pool workers{2};

	plain_request(workers, plain);
#ifdef HAVE_COROUTINES
	request a = coroutine_request(workers, first, "first");
	request b = coroutine_request(workers, second, "second");

	a.done.wait();
	b.done.wait();
#endif
	if (!mtag_active()) {
		std::puts("The mtag module is not loaded: nothing was counted.");
		return 0;
	}
	print(requests.child("plain"));
#ifdef HAVE_COROUTINES
	print(requests.child("first"));
	print(requests.child("second"));
#endif
	return mtag_current() == MTAG_UNTAGGED ? 0 : 1;
}
