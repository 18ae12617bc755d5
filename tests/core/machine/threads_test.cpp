// SPDX-License-Identifier: Apache-2.0
#include "d5/core/machine/threads.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/machine/process_clock.hpp"
#include "core/thread_pool/thread_pool.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/thread_share.hpp"
#include "d5/core/thread_pool/waiting.hpp"
#include "tests/sanitizers.hpp"

using namespace d5;

TEST_CASE("a loop is cut into pieces that cover every index once") {
  const int before = threads();
  for (const int count : {0, 1, 2, 7, 100, 101}) {
    for (const int pool : {1, 2, 3, 8}) {
      set_threads(pool);
      std::vector<int> visits(std::size_t(count), 0);
      parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) ++visits.at(std::size_t(i));
      });
      CHECK(visits == std::vector<int>(std::size_t(count), 1));
    }
  }
  set_threads(before);
}

TEST_CASE("no piece is smaller than the grain, nor are there more than threads") {
  const int before = threads();
  set_threads(4);
  std::mutex mutex;
  std::vector<std::int64_t> sizes;
  const auto record = [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    sizes.push_back(end - begin);
  };
  parallel_for(100, 40, record);
  CHECK(sizes == std::vector<std::int64_t>{50, 50});
  sizes.clear();
  parallel_for(10, 40, record);
  CHECK(sizes == std::vector<std::int64_t>{10});
  sizes.clear();
  parallel_for(INT64_MAX, 1, record);
  CHECK(sizes.size() == 4);
  set_threads(before);
}

TEST_CASE("an exception of a piece comes out of the loop") {
  const int before = threads();
  set_threads(4);
  CHECK_THROWS_WITH(parallel_for(8, 1,
                                 [](std::int64_t begin, std::int64_t) {
                                   if (begin > 0) throw ValueError("index out of range");
                                 }),
                    "index out of range");
  set_threads(before);
}

TEST_CASE("a listener hears the present number of threads and every change") {
  const int before = threads();
  static std::vector<int> heard;  // listeners are kept for the life of the process
  on_threads_changed([](int count) { heard.push_back(count); });
  set_threads(3);
  CHECK(heard == std::vector<int>{before, 3});
  CHECK(threads() == 3);
  CHECK_THROWS_AS(set_threads(0), ValueError);
  CHECK(threads() == 3);
  set_threads(before);
}

TEST_CASE("threads without work sleep, and take no core from others") {
  const int before = threads();
  set_threads(2);
  parallel_for(2, 1, [](std::int64_t, std::int64_t) {});
  const double used = detail::process_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // Processor time, not the clock's: whatever else runs here does not count. They may spin 0.1 ms.
  CHECK(detail::process_seconds() - used < 2e-3);
  set_threads(before);
}

TEST_CASE("loops within a loop, and loops of several threads at once, cover every index") {
  const int before = threads();
  set_threads(4);
  std::atomic<int> visits = 0;
  std::atomic<bool> always_inside = true;  // also where the caller computes all by itself
  const auto count = [&](std::int64_t begin, std::int64_t end) {
    visits += int(end - begin);
    if (!detail::ThreadPool::inside()) always_inside = false;
  };
  parallel_for(4, 1, [&](std::int64_t, std::int64_t) { parallel_for(100, 1, count); });
  CHECK_FALSE(detail::ThreadPool::inside());
  CHECK(visits == 400);
  visits = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < 1000; ++loop) parallel_for(7, 1, count);
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(visits == 4 * 1000 * 7);
  CHECK(always_inside);
  set_threads(before);
}

#ifndef D5_UNDER_THREAD_SANITIZER  // it ends a forked process that starts threads
TEST_CASE("a forked process computes with threads of its own") {
  const int before = threads();
  set_threads(2);
  std::atomic<int> visits = 0;
  const auto count = [&](std::int64_t begin, std::int64_t end) { visits += int(end - begin); };
  parallel_for(8, 1, count);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    parallel_for(8, 1, count);
    _exit(visits == 16 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  set_threads(before);
}
#endif

TEST_CASE("OpenMP's idle threads are told to sleep soon, unless the user has said how they wait") {
  // In a process of its own: it is decided once.
  const auto waiting_with = [](const char* variable, const char* value) {
    int ends[2] = {-1, -1};
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      unsetenv("GOMP_SPINCOUNT");
      unsetenv("OMP_WAIT_POLICY");
      if (variable) setenv(variable, value, 1);
      const char* seen = "";
      const std::string said = bound_waiting();
      if (const char* spin = std::getenv("GOMP_SPINCOUNT")) seen = spin;
      const std::string line = said + "|" + seen;
      _exit(write(ends[1], line.data(), line.size()) == ssize_t(line.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string text(1000, '\0');
    text.resize(std::size_t(std::max<ssize_t>(0, read(ends[0], text.data(), text.size()))));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return text;
  };
  const std::string ours = "d5: spins 0.1 ms, then sleeps; OpenMP: ";
  CHECK(waiting_with(nullptr, "") == ours + "GOMP_SPINCOUNT=10000, set by d5|10000");
  CHECK(waiting_with("OMP_WAIT_POLICY", "active") == ours + "OMP_WAIT_POLICY=active|");
  CHECK(waiting_with("GOMP_SPINCOUNT", "7") == ours + "GOMP_SPINCOUNT=7|7");
}

TEST_CASE("a thread with a share computes on as many threads of its own") {
  const int before = threads();
  set_threads(3);
  std::atomic<int> faults = 0;
  // As many pieces as threads meet inside the loop, so all threads run at once.
  const auto meet = [&](int count) {
    std::atomic<int> inside = 0;
    std::mutex mutex;
    std::vector<std::thread::id> who;
    parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
      faults += end - begin != 1 || threads() != count;
      ++inside;
      while (inside < count) std::this_thread::yield();
      const std::lock_guard lock(mutex);
      who.push_back(std::this_thread::get_id());
    });
    std::ranges::sort(who);
    faults += std::ranges::adjacent_find(who) != who.end() || who.size() != std::size_t(count);
  };
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> runners;
    for (const int count : {1, 2, 3, 2}) {
      runners.emplace_back([&, count] {
        const ThreadShare share(count);
        faults += threads() != count;
        for (int i = 0; i < 20; ++i) meet(count);
      });
    }
    for (auto& runner : runners) runner.join();
  }
  CHECK(threads() == 3);
  meet(3);
  CHECK(faults == 0);
  {
    const ThreadShare outer(2);
    {
      const ThreadShare inner(5);
      CHECK(threads() == 5);
      set_threads(4);
      CHECK(threads() == 5);
    }
    CHECK(threads() == 2);
    CHECK_THROWS_AS(ThreadShare(0), ValueError);
    CHECK(threads() == 2);
  }
  CHECK(threads() == 4);
  set_threads(before);
}

// Listeners are kept for the life of the process. A thread makes and ends its own where it first
// uses it, which it would not were this inside the test.
namespace {
thread_local std::vector<int> heard_here;
}

TEST_CASE("each thread hears of its share if the number is kept thread by thread") {
  const int before = threads();
  on_thread_share([](int count) { heard_here.push_back(count); });
  CHECK(heard_here.empty());
  std::vector<int> there;
  std::thread([&] {
    {
      const ThreadShare share(2);
    }
    there = heard_here;
  }).join();
  CHECK(there == std::vector<int>{2, before});
  CHECK(heard_here.empty());
}

TEST_CASE("a share outlives a fork") {
  const ThreadShare share(2);
  const auto work = [] {
    std::atomic<int> pieces = 0;
    parallel_for(2, 1, [&](std::int64_t, std::int64_t) { ++pieces; });
    return pieces == 2;
  };
  CHECK(work());
  const pid_t child = fork();
  if (child == 0) _exit(work() && threads() == 2 ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
