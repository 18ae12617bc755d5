// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/decorators/call_timeout.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using testing::last_rank, testing::rank_count, testing::this_rank;
using namespace std::chrono_literals;

namespace {

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const CommunicationError& error) {
    return error.what();
  }
  return "no error";
}

/// Ranks for calls that never end, in a separate group so that no later call meets them.
std::shared_ptr<CallTimeout> with_timeout(std::chrono::milliseconds timeout) {
  return std::make_shared<CallTimeout>(world()->split(0, this_rank),
                                       CallTimeoutOptions{.timeout = timeout});
}

Tensor fresh(std::int64_t elements) {
  return Tensor::vector(std::vector<float>(static_cast<std::size_t>(elements), 1));
}

}  // namespace

TEST_CASE("calls that end in time are as without a timeout") {
  const auto ranks = std::make_shared<CallTimeout>(
      world(), CallTimeoutOptions{.timeout = 60s});  // more than a busy machine can take
  Tensor sum = fresh(1000);
  ranks->all_reduce(sum);
  CHECK(sum.data<float>()[999] == float(rank_count));
  all_reduces().at("ring").make()->start(*ranks, sum)->wait();
  CHECK(sum.data<float>()[0] == float(rank_count * rank_count));
  const auto group = ranks->split(this_rank % 2);
  Tensor of_group = fresh(1);
  group->start_all_reduce(of_group)->wait();
  CHECK(of_group.item<float>() == float(group->size()));
  CHECK(ranks->traffic().by_call.at("all_reduce").calls == 2);
}

TEST_CASE("blocking calls, short ones and long ones, are what they are without a timeout") {
  const auto ranks = std::make_shared<CallTimeout>(world(), CallTimeoutOptions{.timeout = 60s});
  for (const std::int64_t size : {0, 1, 1000, 16'384, 16'385}) {  // 64 KiB and a float more
    INFO(size);
    Tensor sum = Tensor::empty(DType::float32, {size}),
           most = Tensor::empty(DType::float32, {size});
    Tensor told = Tensor::empty(DType::int64, {size});
    Tensor mine = Tensor::empty(DType::int16, {size});
    Tensor all = Tensor::empty(DType::int16, {rank_count, size});
    for (std::int64_t i = 0; i < size; ++i) {
      sum.data<float>()[i] = most.data<float>()[i] = float(this_rank + i % 100);
      told.data<std::int64_t>()[i] = this_rank == last_rank ? i << 40 : 0;
      mine.data<std::int16_t>()[i] = static_cast<std::int16_t>(-257 * this_rank - i);
    }
    ranks->all_reduce(sum);
    ranks->all_reduce(most, Reduction::maximum);
    ranks->barrier();
    ranks->broadcast(told, last_rank);
    ranks->all_gather(mine, all);
    bool right = true;
    for (std::int64_t i = 0; i < size; ++i) {
      // Whole numbers: sums are exact.
      const float others = float(rank_count * (i % 100) + rank_count * last_rank / 2);
      right = right && sum.data<float>()[i] == others;
      right = right && most.data<float>()[i] == float(last_rank + i % 100);
      right = right && told.data<std::int64_t>()[i] == i << 40;
      for (int r = 0; r < rank_count; ++r) {
        right = right &&
                all.data<std::int16_t>()[r * size + i] == static_cast<std::int16_t>(-257 * r - i);
      }
    }
    CHECK(right);
  }
}

TEST_CASE("messages under way go on while a rank waits in a blocking call") {
  if (rank_count < 2) return;
  const auto ranks = std::make_shared<CallTimeout>(world(), CallTimeoutOptions{.timeout = 60s});
  Tensor large = fresh(4 << 20);  // more than goes without the receiver
  if (this_rank == 0) {
    const auto sent = ranks->start_send(large, 1);
    ranks->barrier();
    sent->wait();
  } else {
    if (this_rank == 1) ranks->receive(large, 0);
    ranks->barrier();
  }
  CHECK(large.data<float>()[0] == 1);
}

TEST_CASE("a wait for a rank that reports its failure ends with it, long before the timeout") {
  if (rank_count < 2) return;
  const auto ranks = with_timeout(60s);
  world()->barrier();
  if (this_rank == last_rank) {
    ranks->tell_failure();
  } else {
    const std::string error = error_of([&] { ranks->barrier(); });
    CHECK_THAT(error, Catch::Contains("rank " + std::to_string(last_rank) + " failed") &&
                          Catch::Contains("in barrier number 1, of world"));
  }
  world()->barrier();
}

TEST_CASE("sums in memory of the node are watched as calls are") {
  if (rank_count < 2) return;
  const auto ranks = with_timeout(400ms);
  const auto sums = all_reduces().at("node_memory").make();
  sums->prepare(*ranks);
  world()->barrier();
  Tensor data = fresh(10);
  if (this_rank == last_rank) {
    std::this_thread::sleep_for(900ms);
  } else {
    const std::string error = error_of([&] { sums->start(*ranks, data)->wait(); });
    CHECK_THAT(error, Catch::Contains("400ms are over in all_reduce number") &&
                          Catch::Contains("not there: rank " + std::to_string(last_rank)));
  }
  world()->barrier();
}

TEST_CASE("a wait that takes longer than the timeout names the call and who is not there") {
  if (rank_count < 2) return;
  const auto ranks = with_timeout(400ms);
  ranks->barrier();
  Tensor sum = fresh(10);
  if (this_rank == last_rank) {
    std::this_thread::sleep_for(900ms);
  } else {
    const auto begin = std::chrono::steady_clock::now();
    const std::string error = error_of([&] { ranks->all_reduce(sum); });
    CHECK(std::chrono::steady_clock::now() - begin >= 400ms);
    CHECK(std::chrono::steady_clock::now() - begin < 900ms);  // long before the other one comes
    CHECK_THAT(error, Catch::StartsWith("rank " + std::to_string(this_rank) +
                                        ": 400ms are over in all_reduce "
                                        "number 2 of 10 x float32, of world; not there: rank " +
                                        std::to_string(last_rank)));
    for (int other = 0; other < last_rank; ++other) {
      if (other == this_rank) continue;
      CHECK_THAT(error, Catch::Contains("rank " + std::to_string(other) +
                                        " waits in all_reduce number 2"));
    }
  }
  world()->barrier();
}

TEST_CASE("in a chain of messages the rank that computes is named, not the one that waits for it") {
  if (rank_count < 3) return;
  const auto ranks = with_timeout(400ms);
  world()->barrier();
  if (this_rank == 1) {
    std::this_thread::sleep_for(900ms);
  } else {
    Tensor sum = fresh(64);
    const auto ring = all_reduces().at("ring").make();
    const std::string error = error_of([&] {
      auto first = ring->start(*ranks, sum);
      first->wait();
    });
    CHECK_THAT(error, Catch::Contains("not there: rank 1") && Catch::Contains("in receive from"));
  }
  world()->barrier();
}

TEST_CASE("asking whether a call is done counts as waiting") {
  if (rank_count < 2) return;
  const auto ranks = with_timeout(400ms);
  world()->barrier();
  if (this_rank == last_rank) {
    std::this_thread::sleep_for(900ms);
  } else {
    Tensor data = fresh(1);
    const std::string error = error_of([&] {
      const auto request = ranks->start_receive(data, last_rank);
      while (!request->done()) std::this_thread::yield();
    });
    CHECK_THAT(error, Catch::Contains("in receive from rank " + std::to_string(last_rank)) &&
                          Catch::Contains("not there: rank " + std::to_string(last_rank)));
  }
  world()->barrier();
}

TEST_CASE("computing between two questions does not count as waiting") {
  if (rank_count < 2) return;
  const auto ranks = with_timeout(400ms);
  world()->barrier();
  Tensor data = fresh(1);
  if (this_rank == 0) {
    std::this_thread::sleep_for(1s);
    ranks->send(data, 1);
  } else if (this_rank == 1) {
    const auto request = ranks->start_receive(data, 0);
    for (int layer = 0; layer < 8; ++layer) {
      CHECK_NOTHROW(request->done());
      std::this_thread::sleep_for(130ms);
    }
    request->wait();
  }
  world()->barrier();
}

TEST_CASE("without a timeout a long wait is reported, each time after twice as long") {
  if (rank_count < 2) return;
  std::vector<std::string> said;
  const auto ranks = std::make_shared<CallTimeout>(
      world(), CallTimeoutOptions{.report_after = 300ms,
                                  .say = [&](const std::string& line) { said.push_back(line); }});
  ranks->barrier();
  said.clear();
  if (this_rank == last_rank) std::this_thread::sleep_for(1600ms);
  Tensor sum = fresh(5);
  ranks->all_reduce(sum);
  CHECK(sum.data<float>()[4] == float(rank_count));
  if (this_rank != last_rank) {
    REQUIRE(said.size() == 3);  // after 300, 600 and 1200 ms
    CHECK_THAT(said.front(), Catch::Contains("waiting for 300ms in all_reduce number 2") &&
                                 Catch::Contains("not there: rank " + std::to_string(last_rank)));
    CHECK_THAT(said.back(), Catch::Contains("waiting for 1200ms"));
  }
  world()->barrier();
}

TEST_CASE("times below 0 are refused") {
  CHECK_THROWS_AS(CallTimeout(world(), {.timeout = -1s}), ValueError);
  CHECK_THROWS_AS(CallTimeout(world(), {.report_after = 0s}), ValueError);
}
