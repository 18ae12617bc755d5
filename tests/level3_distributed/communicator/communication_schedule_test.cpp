// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"

using namespace d5;

namespace {

/// n times the maximum over ranks, by two all-reduces one after the other.
CommunicationSchedule n_times_maximum(Communicator& ranks, AllReduce& all_reduce, Tensor data) {
  auto first = all_reduce.start(ranks, data, Reduction::maximum);
  co_await first;
  auto second = all_reduce.start(ranks, data);
  co_await second;
}

/// The maximum over ranks, after a sum that it waits for without sleeping, as a first call does
/// that sets something up.
CommunicationSchedule maximum_after_wait(Communicator& ranks, AllReduce& all_reduce, Tensor data) {
  Tensor one = Tensor::vector<std::int64_t>({1});
  auto first = all_reduce.start(ranks, one);
  co_await first;
  all_reduce.start(ranks, one)->wait();
  auto last = all_reduce.start(ranks, data, Reduction::maximum);
  co_await last;
}

}  // namespace

TEST_CASE("a schedule that is advanced beside another may wait for its own calls") {
  const auto ring = all_reduces().at("ring").make();
  const auto first = world()->split(0, world()->rank()), other = world()->split(0, world()->rank());
  Tensor data = Tensor::vector<std::int64_t>({world()->rank()}), unused = data.copy();
  const auto later = run_schedule(*other, n_times_maximum(*other, *ring, unused));
  const auto request = run_schedule(*first, maximum_after_wait(*first, *ring, data));
  while (!request->done()) continue;
  later->wait();
  CHECK(data.data<std::int64_t>()[0] == world()->size() - 1);
}

TEST_CASE("a schedule may wait for schedules, and start others, several under way at once") {
  const auto ring = all_reduces().at("ring").make();
  const int n = world()->size(), rank = world()->rank();
  std::vector<Tensor> data;
  std::vector<std::shared_ptr<Communicator>> groups;  // within one, ranks start in one order
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 0; i < 5; ++i) {
    data.push_back(Tensor::vector<std::int64_t>({rank + i, -rank}));
    groups.push_back(world()->split(0, rank));
    requests.push_back(
        run_schedule(*groups.back(), n_times_maximum(*groups.back(), *ring, data.back())));
  }
  // Each rank waits in a different order and polls in between.
  for (int i = 0; i < 5; ++i) {
    (void)requests[static_cast<std::size_t>(i)]->done();
    requests[static_cast<std::size_t>((i + rank) % 5)]->wait();
  }
  for (int i = 0; i < 5; ++i) {
    const auto& result = data[static_cast<std::size_t>(i)];
    CHECK(result.data<std::int64_t>()[0] == std::int64_t{n} * (n - 1 + i));
    CHECK(result.data<std::int64_t>()[1] == 0);
  }
}
