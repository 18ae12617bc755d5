// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/packed_queries.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/evaluation/sample_run.hpp"

using namespace d5;
using testing::some_queries;

TEST_CASE("queries are packed in few bytes, whatever numbers they have") {
  const auto plain = some_queries(10'000);
  const std::string packed = detail::pack_queries(plain);
  CHECK(packed.size() < 20 * plain.size());
  std::vector<QueryRecord> back;
  detail::unpack_queries(packed, plain.size(), back);
  CHECK(back == plain);

  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<QueryRecord> extreme = {
      {.id = kMost, .sample = kLeast, .batch = -1, .scheduled = kLeast, .issued = kMost},
      {.id = kLeast, .sample = kMost, .begun = kMost, .ended = kLeast, .status = Status::failed}};
  back.clear();
  const std::string bytes = detail::pack_queries(extreme);
  detail::unpack_queries(bytes, 2, back);
  CHECK(back == extreme);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    std::vector<QueryRecord> none;
    CHECK_THROWS_AS(detail::unpack_queries(bytes.substr(0, cut), 2, none), FormatError);
  }
  CHECK_THROWS_AS(detail::unpack_queries(bytes, std::size_t{1} << 60, back), FormatError);
}

TEST_CASE("a block of generated answers keeps their tokens, and others are as before") {
  auto queries = some_queries(100);
  const std::size_t plain = detail::pack_queries(queries).size();
  for (QueryRecord& query : queries) {
    if (query.id % 3 == 0) continue;  // no piece came
    query.first = query.begun + 50'000'000;
    query.answered = query.first + 1'000'000 * (query.id % 3);
    query.tokens = 20 + query.id;
  }
  const std::string packed = detail::pack_queries(queries);
  CHECK(packed.size() > plain);
  std::vector<QueryRecord> back;
  detail::unpack_queries(packed, queries.size(), back);
  CHECK(back == queries);
  for (std::size_t cut = 0; cut < packed.size(); ++cut) {
    std::vector<QueryRecord> none;
    CHECK_THROWS_AS(detail::unpack_queries(packed.substr(0, cut), queries.size(), none),
                    FormatError);
  }
}
