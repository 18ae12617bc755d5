// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communication_resources.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/communicator/progress_thread.hpp"
#include "tests/level3_distributed/node/this_rank.hpp"

namespace d5 {
namespace {

using testing::n, testing::rank;
using namespace std::chrono_literals;

/// Sums whose bits depend on the order of operands.
Tensor rough(std::int64_t elements) {
  Tensor data = Tensor::empty(DType::float32, {elements});
  for (std::int64_t i = 0; i < elements; ++i) {
    data.span<float>()[std::size_t(i)] = 1.0F / float(3 + i % 97 + 31 * rank);
  }
  return data;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

struct Heard final : CommunicationEvent {
  std::vector<std::string> labels, used;
  std::vector<std::string> ignored;
  int priority = 0;
  void complete(const CommunicationInfo& call) override {
    if (call.label.empty()) return;
    labels.emplace_back(call.label);
    priority = call.priority;
    used.push_back(call.used ? to_words(call.used->resources) : "");
    ignored.push_back(call.used ? call.used->ignored : "");
  }
};

const std::vector<std::string> kResources = {
    "default",       "threads=0",
    "threads=1",     "threads=2:chunk=1KiB",
    "chunk=64B",     "threads=1:chunk=4KiB:waiting=yield",
    "waiting=sleep", "threads=0:waiting=yield:poll=2us",
};

TEST_CASE("the bits of a sum do not depend on resources") {
  const auto ranks = world();
  const std::string name = GENERATE("node_memory", "ring", "segmented_ring", "mpi");
  const auto algorithm = all_reduces().at(name).make();
  Tensor plain = rough(10007);
  algorithm->start(*ranks, plain)->wait();
  for (const std::string& words : kResources) {
    CAPTURE(name, words);
    Tensor data = rough(10007);
    const auto request = ranks->with({.resources = resources_of(words)},
                                     [&] { return algorithm->start(*ranks, data); });
    request->wait();
    CHECK(same_bits(data, plain));
  }
}

TEST_CASE("several all-reduces with resources of their own are under way at once") {
  const auto ranks = world();
  const auto algorithm = all_reduces().at("node_memory").make();
  Tensor plain = rough(5001);
  algorithm->start(*ranks, plain)->wait();
  std::vector<Tensor> data(kResources.size());
  std::vector<std::unique_ptr<Request>> requests;
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = rough(5001);
    requests.push_back(ranks->with({.resources = resources_of(kResources[i]), .priority = int(i)},
                                   [&] { return algorithm->start(*ranks, data[i]); }));
  }
  for (std::size_t i = data.size(); i-- > 0;) {
    requests[i]->wait();
    CHECK(same_bits(data[i], plain));
  }
}

TEST_CASE("a crew moves a sum on while nobody asks, and tells when it ended") {
  if (n == 1) return;
  const auto ranks = world();
  const auto algorithm = all_reduces().at("node_memory").make();
  Tensor data = rough(100003);
  const auto request =
      ranks->with({.resources = {.threads = 1}}, [&] { return algorithm->start(*ranks, data); });
  const auto end = std::chrono::steady_clock::now() + 30s;  // on a machine with other work
  while (request->times().ended_ns == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
  }
  CHECK(request->times().ended_ns > request->times().begun_ns);
  request->wait();
}

TEST_CASE("a crew goes on after an exception gave up one of its calls") {
  if (n == 1) return;
  const auto ranks = world(), group = ranks->split(0);
  const auto algorithm = all_reduces().at("node_memory").make();
  algorithm->prepare(*group);
  algorithm->prepare(*ranks);
  const CallOptions options{.resources = {.threads = 1, .poll_interval = 5ms}};
  Tensor data = rough(1001);
  const auto give_up = [&] {
    const auto request = group->with(options, [&] { return algorithm->start(*group, data); });
    std::this_thread::sleep_for(20ms);  // its thread polls it
    throw ValueError("given up");
  };
  if (rank > 0) CHECK_THROWS_AS(give_up(), ValueError);  // rank 0 never comes
  Tensor plain = rough(1001), later = rough(1001);
  algorithm->start(*ranks, plain)->wait();
  ranks->with(options, [&] { return algorithm->start(*ranks, later); })->wait();
  CHECK(same_bits(later, plain));
}

TEST_CASE("observers hear a call's label, priority and what it ran with, of that call alone") {
  const auto ranks = world();
  const auto heard = std::make_shared<Heard>();
  const auto algorithm = all_reduces().at("node_memory").make();
  algorithm->prepare(*ranks);
  ranks->events().add(heard);
  Tensor data = rough(100);
  ranks
      ->with({.resources = resources_of("threads=1:chunk=1KiB"), .priority = 3, .label = "first"},
             [&] { return algorithm->start(*ranks, data); })
      ->wait();
  algorithm->start(*ranks, data)->wait();
  ranks->events().remove(heard.get());
  CHECK(ranks->options() == nullptr);
  REQUIRE(heard->labels == std::vector<std::string>{"first"});
  CHECK(heard->priority == 3);
  if (n == 1) return;
  CHECK(heard->used.front() == "threads=1:chunk=1KiB");
  CHECK(heard->ignored.front().empty());
}

TEST_CASE("a transport's own call says what it ignored") {
  const auto ranks = world();
  Tensor data = rough(100);
  const auto request = ranks->with({.resources = resources_of("threads=2:chunk=1KiB")},
                                   [&] { return ranks->start_all_reduce(data); });
  request->wait();
  REQUIRE(request->used());
  CHECK(request->used()->ignored == "threads, chunk: this all_reduce is the transport's own");
}

TEST_CASE("a ring takes a thread where one is around its ranks, and says so where none is") {
  if (n == 1) return;
  const auto algorithm = all_reduces().at("ring").make();
  const CallOptions options{.resources = resources_of("threads=2:chunk=4KiB")};
  Tensor data = rough(10007);
  const auto bare = world()->with(options, [&] { return algorithm->start(*world(), data); });
  bare->wait();
  CHECK(bare->used()->resources.threads == 0);
  CHECK(bare->used()->resources.chunk_bytes == 4096);
  CHECK_THAT(bare->used()->ignored, Catch::Contains("threads: no ProgressThread"));
  const auto moved = std::make_shared<ProgressThread>(world());
  for (const int threads : {0, 1}) {
    const auto request = moved->with({.resources = {.threads = threads}},
                                     [&] { return algorithm->start(*moved, data); });
    request->wait();
    CHECK(request->used()->resources.threads == threads);
    CHECK(request->used()->ignored.empty());
  }
}

/// A request that is done when a flag is set.
struct Told final : Request {
  explicit Told(const bool& is_done) : is_done_(is_done) {}
  void wait() override {}
  bool done() override { return is_done_; }
  const bool& is_done_;
};
CommunicationSchedule write_after(std::unique_ptr<Request> call, std::string& order, char name) {
  co_await call;
  order += name;
}

TEST_CASE("the schedule with the higher priority of those under way goes on first") {
  const auto ranks = world();
  bool go = false;
  std::string order;
  std::vector<std::unique_ptr<Request>> all;
  for (const auto& [name, priority] : {std::pair{'a', 0}, {'b', 5}, {'c', 0}, {'d', 7}}) {
    all.push_back(ranks->with({.priority = priority}, [&] {
      return run_schedule(*ranks, write_after(std::make_unique<Told>(go), order, name));
    }));
  }
  CHECK_FALSE(all.front()->done());
  go = true;
  CHECK(all.front()->done());
  CHECK(order == "dbac");
}

TEST_CASE("resources read back as they were written") {
  for (const std::string words :
       {"default", "threads=0", "threads=2:chunk=64KiB:waiting=spin:poll=10us"}) {
    CHECK(to_words(resources_of(words)) == words);
  }
  CHECK_FALSE(resources_of("cores=shared").cores.empty());
}

TEST_CASE("resources that cannot be are refused") {
  const auto [words, says] = GENERATE(table<std::string, std::string>({
      {"chunk=0B", "'0B' is not a number of bytes"},
      {"threads=-1", "-1 threads"},
      {"threads=many", "not a whole number"},
      {"cores=100000", "core 100000 does not exist; the process may use"},
      {"waiting=doze", "expected one of usual, spin, yield, sleep"},
      {"poll=soon", "not a duration"},
      {"speed=1", "unknown key 'speed'"},
  }));
  CHECK_THROWS_AS(resources_of(words), ValueError);
  CHECK_THROWS_WITH(resources_of(words), Catch::Contains(says));
  const auto ranks = world();
  CHECK_THROWS_AS(ranks->with({.resources = {.chunk_bytes = 0}}, [] { return 0; }), ValueError);
}

TEST_CASE("an algorithm that is named with resources sums as without") {
  const auto ranks = world();
  Tensor plain = rough(1000), data = rough(1000);
  all_reduces().at("ring").make()->start(*ranks, plain)->wait();
  const auto algorithm = all_reduces()
                             .at("with_resources")
                             .make({{"of", "ring"}, {"resources", "chunk=256B+waiting=yield"}});
  algorithm->start(*ranks, data)->wait();
  CHECK(same_bits(data, plain));
  CHECK(algorithm->chosen() == "chunk=256B:waiting=yield");
}

}  // namespace
}  // namespace d5
