// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/collectives/collective_validation.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/communicator/progress_thread.hpp"
#include "tests/level3_distributed/node/this_rank.hpp"

using namespace d5;
using namespace std::chrono_literals;
using testing::n, testing::rank;

namespace {

/// Starts nothing: the inner communicator of the errors.
class Refusing final : public CommunicatorDecorator {
 public:
  using CommunicatorDecorator::CommunicatorDecorator;

 protected:
  std::unique_ptr<Request> do_start(const CommunicationCall& call) override {
    if (call.kind == CallKind::broadcast) throw CommunicationError("refused");
    return start_inner(call);
  }
  std::shared_ptr<Communicator> decorate(std::shared_ptr<Communicator> group) override {
    return std::make_shared<Refusing>(std::move(group));
  }
};

/// Notes on which thread calls are started.
class Noting final : public CommunicatorDecorator {
 public:
  using CommunicatorDecorator::CommunicatorDecorator;
  std::vector<std::thread::id> threads;

 protected:
  std::unique_ptr<Request> do_start(const CommunicationCall& call) override {
    threads.push_back(std::this_thread::get_id());
    return start_inner(call);
  }
  std::shared_ptr<Communicator> decorate(std::shared_ptr<Communicator> group) override {
    return std::make_shared<Noting>(std::move(group));
  }
};

/// Three calls, each after the one before.
CommunicationSchedule thrice(Communicator& ranks, Tensor data, std::atomic<bool>& ended) {
  for (int i = 0; i < 3; ++i) {
    const auto sum = ranks.start_all_reduce(data);
    co_await sum;
  }
  ended = true;
}

bool comes_true(const std::atomic<bool>& flag) {
  // Ranks are more than cores, and the machine is busy: far longer than it takes.
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!flag && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
  return flag;
}

}  // namespace

TEST_CASE("a progress thread makes every call, of groups and blocking ones too, and nobody else") {
  const auto noting = std::make_shared<Noting>(world());
  {
    const auto ranks = std::make_shared<ProgressThread>(noting);
    Tensor one = Tensor::scalar<std::int32_t>(1), two = Tensor::scalar<std::int32_t>(2);
    auto under_way = ranks->start_all_reduce(one);
    ranks->all_reduce(two);
    under_way->wait();
    CHECK(one.item<std::int32_t>() == n);
    CHECK(two.item<std::int32_t>() == 2 * n);
    const auto group = ranks->split(rank % 2);
    Tensor three = Tensor::scalar<std::int32_t>(3);
    group->all_reduce(three);
    CHECK(three.item<std::int32_t>() == 3 * group->size());
    if (n > 1) {
      Tensor got = Tensor::scalar<std::int32_t>(-1);
      const auto sent = ranks->start_send(Tensor::scalar<std::int32_t>(rank), (rank + 1) % n);
      ranks->receive(got, (rank + n - 1) % n);
      CHECK(got.item<std::int32_t>() == (rank + n - 1) % n);
    }
    CHECK(ranks->traffic().by_call.at("all_reduce").calls == 3);
  }
  CHECK(noting->threads.size() >= 2);
  CHECK(std::ranges::count(noting->threads, noting->threads.front()) ==
        static_cast<std::ptrdiff_t>(noting->threads.size()));
  CHECK(noting->threads.front() != std::this_thread::get_id());
}

TEST_CASE("a schedule comes to its end while its rank never looks at it") {
  const auto ranks = std::make_shared<ProgressThread>(world());
  std::atomic<bool> ended = false;
  Tensor data = Tensor::scalar<std::int64_t>(1);
  const auto request = run_schedule(*ranks, thrice(*ranks, data, ended));
  CHECK(comes_true(ended));
  CHECK(request->done());
  CHECK(data.item<std::int64_t>() == std::int64_t{n} * n * n);
}

TEST_CASE("a rank's options are not those of calls that its progress thread starts") {
  struct Labels final : CommunicationEvent {
    std::vector<std::string> all;
    void complete(const CommunicationInfo& call) override { all.emplace_back(call.label); }
  };
  const auto ranks = std::make_shared<ProgressThread>(world());
  const auto labels = std::make_shared<Labels>();
  ranks->events().add(labels);
  std::atomic<bool> ended = false;
  Tensor data = Tensor::scalar<std::int64_t>(1);
  const auto request = run_schedule(*ranks, thrice(*ranks, data, ended));
  CHECK(ranks->with({.label = "the rank's"}, [&] { return comes_true(ended); }));
  request->wait();
  CHECK(labels->all == std::vector<std::string>(4));  // three sums and their schedule
}

TEST_CASE("without a progress thread it does not") {
  if (n == 1) return;
  std::atomic<bool> ended = false;
  Tensor data = Tensor::scalar<std::int64_t>(1);
  const auto request = run_schedule(*world(), thrice(*world(), data, ended));
  std::this_thread::sleep_for(20ms);
  CHECK(!ended);
  request->wait();
  CHECK(ended);
}

TEST_CASE("a call's times are those of the thread") {
  const auto ranks = std::make_shared<ProgressThread>(world());
  const std::int64_t before = Trace::now_ns();
  const auto request = ranks->start_barrier();
  request->wait();
  const auto [begun, ended] = request->times();
  CHECK(begun >= before);
  CHECK(ended >= begun);
  CHECK(ended <= Trace::now_ns());
}

TEST_CASE("every all-reduce is right on a progress thread") {
  const auto ranks = std::make_shared<ProgressThread>(world());
  for (const auto& [name, entry] : all_reduces().entries()) {
    for (const auto& record : check_collective(CallKind::all_reduce, {name}, *ranks)) {
      INFO(name << ", " << record.metric << ": " << record.reason);
      CHECK(record.status == (n == 1 ? Status::skipped : Status::passed));
    }
  }
}

TEST_CASE("an exception on the thread is thrown where its call is waited for") {
  const auto ranks = std::make_shared<ProgressThread>(std::make_shared<Refusing>(world()));
  Tensor data = Tensor::scalar<float>(1);
  const auto request = ranks->start_broadcast(data, 0);
  CHECK_THROWS_WITH(request->wait(), "refused");
  CHECK_THROWS_AS(ranks->broadcast(data, 0), CommunicationError);
  CHECK_THROWS_AS(ranks->broadcast(data, n), ValueError);
  ranks->all_reduce(data);  // and it goes on
  CHECK(data.item<float>() == float(n));
}

TEST_CASE("the end of a progress thread waits for what nobody waited for") {
  Tensor data = Tensor::scalar<std::int64_t>(1);
  std::unique_ptr<Request> request;
  {
    const auto ranks = std::make_shared<ProgressThread>(world());
    request = ranks->start_all_reduce(data);
  }
  CHECK(data.item<std::int64_t>() == n);
  CHECK(request->done());
}

TEST_CASE("a progress thread says where it runs") {
  CHECK_THAT(ProgressThread(world(), {.place = 0}).pinning(), Catch::StartsWith("core "));
  CHECK_THAT(ProgressThread(world(), {.place = 1 << 20}).pinning(), Catch::StartsWith("none: "));
  CHECK(ProgressThread(world()).pinning() == "none");
}
