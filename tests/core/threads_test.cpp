// SPDX-License-Identifier: Apache-2.0
#include "d5/core/threads.hpp"

#include <catch2/catch.hpp>
#include <mutex>
#include <vector>

#include "d5/core/error.hpp"

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
