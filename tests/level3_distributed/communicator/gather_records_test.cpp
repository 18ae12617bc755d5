// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/gather_records.hpp"
#include <catch2/catch.hpp>
#include "d5/level3_distributed/communicator/communicator.hpp"

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

Measurement record(OverRanks over_ranks, std::vector<double> samples) {
  return {.subject = "s",
          .metric = "m",
          .unit = "s",
          .over_ranks = over_ranks,
          .samples = std::move(samples)};
}

}  // namespace

TEST_CASE("records of all ranks become one by maximum, sum or mean, sample by sample") {
  const double rank = world()->rank(), size = world()->size();
  const auto results =
      gather_records({record(OverRanks::maximum, {rank, -rank}), record(OverRanks::sum, {rank, 1}),
                      record(OverRanks::mean, {rank, 3})},
                     *world());
  REQUIRE(results.size() == 3);
  CHECK(results[0].samples == std::vector<double>{size - 1, 0});
  CHECK(results[1].samples == std::vector<double>{size * (size - 1) / 2, size});
  CHECK(results[2].samples == std::vector<double>{(size - 1) / 2, 3});
}

TEST_CASE("the mean of what all ranks say alike is that, to the bit") {
  for (int size = 1; size <= world()->size(); ++size) {
    const auto group = world()->split(world()->rank() < size ? 0 : -1);
    if (!group) continue;
    // Three times 0.1, divided by 3, is another number.
    const auto results = gather_records({record(OverRanks::mean, {0.1})}, *group);
    CHECK(results.front().samples == std::vector<double>{0.1});
  }
}

TEST_CASE("records that stand apart become one a rank, and so do those of unequal length") {
  const int rank = world()->rank(), size = world()->size();
  const auto results =
      gather_records({record(OverRanks::apart, {double(rank)}),
                      record(OverRanks::maximum, std::vector<double>(std::size_t(rank) + 1, 1.0))},
                     *world());
  REQUIRE(results.size() == std::size_t(size == 1 ? 2 : 2 * size));
  for (int i = 0; i < size; ++i) {
    CHECK(results[std::size_t(i)].conditions.at("rank") == std::to_string(i));
    CHECK(results[std::size_t(i)].samples == std::vector<double>{double(i)});
  }
  for (int i = 0; size > 1 && i < size; ++i) {
    CHECK(results[std::size_t(size + i)].samples.size() == std::size_t(i) + 1);
  }
}

TEST_CASE("what several ranks mistrust is mistrusted for the reasons of each") {
  Measurement mine = record(OverRanks::maximum, {1});
  mistrust(mine, "doubt of " + std::to_string(world()->rank()));
  const auto results = gather_records({mine}, *world());
  CHECK(results[0].status == Status::mistrusted);
  for (int rank = 0; rank < world()->size(); ++rank) {
    CHECK_THAT(results[0].reason, Catch::Contains("doubt of " + std::to_string(rank)));
  }
}

TEST_CASE("what one rank mistrusts is mistrusted for all, with its name") {
  Measurement mine = record(OverRanks::maximum, {1});
  const int last = world()->size() - 1;
  if (world()->rank() == last) mistrust(mine, "a busy machine");
  const auto results = gather_records({mine}, *world());
  CHECK(results.at(0).status == Status::mistrusted);
  CHECK_THAT(results[0].reason, Catch::Contains("a busy machine"));
  if (last > 0) {
    CHECK(results[0].reason == "rank " + std::to_string(last) + ": a busy machine");
  }
}

TEST_CASE("ranks that measured different things are an error") {
  if (world()->size() == 1) return;
  Measurement mine = record(OverRanks::maximum, {1});
  if (world()->rank() == 0) mine.metric = "other";
  CHECK_THROWS_AS(gather_records({mine}, *world()), FormatError);
}
