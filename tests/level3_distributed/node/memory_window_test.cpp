// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/decorators/call_timeout.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"
#include "d5/level3_distributed/node/memory_window.hpp"
#include "tests/level3_distributed/node/this_rank.hpp"
#include "tests/sanitizers.hpp"

using namespace d5;
using testing::n, testing::rank;

namespace {

/// A window of each available kind, in turn.
std::shared_ptr<MemoryWindow> any_window(std::size_t bytes) {
  using enum MemoryWindowKind;
  const bool launched = world()->medium() == transport().description;
  const auto kind = launched ? GENERATE(automatic, node, library) : node;
  CAPTURE(static_cast<int>(kind));
  return make_memory_window(world(), bytes, kind);
}

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// A communicator with a timeout for waits only, since calls may be slow on a busy machine.
class Impatient final : public CommunicatorDecorator {
 public:
  using CommunicatorDecorator::CommunicatorDecorator;
  std::chrono::nanoseconds longest_wait() const override { return std::chrono::milliseconds(200); }

 protected:
  std::shared_ptr<Communicator> decorate(std::shared_ptr<Communicator> group) override {
    return std::make_shared<Impatient>(std::move(group));
  }
};

/// Runs `what` in a process that is then killed.
void die_after(const std::function<void()>& what) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    what();
    raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("what a rank puts, the target sees, and others get") {
  const auto window = any_window(16 + 4 * static_cast<std::size_t>(rank));
  CHECK(window->bytes(n - 1) == 16 + 4 * static_cast<std::size_t>(n - 1));
  const int right = (rank + 1) % n;
  window->put(Tensor::vector<std::int32_t>({rank, -rank}), right, 8);
  window->flush(right);
  world()->barrier();
  const int left = (rank + n - 1) % n;
  const auto* mine = reinterpret_cast<const std::int32_t*>(window->local().raw());
  CHECK(mine[1] == 0);
  CHECK(mine[2] == left);
  CHECK(mine[3] == -left);
  for (int r = 0; r < n; ++r) {
    Tensor got = Tensor::zeros(DType::int32, {2});
    window->get(got, r, 8);
    CHECK(got.data<std::int32_t>()[0] == (r + n - 1) % n);
  }
  world()->barrier();
}

TEST_CASE("fetch_and_add gives each number once") {
  const auto window = any_window(8);
  const std::int64_t each = 500;
  std::vector<std::int64_t> mine;
  for (int i = 0; i < each; ++i) mine.push_back(window->fetch_and_add(n - 1, 0, 1));
  CHECK(std::ranges::is_sorted(mine, std::ranges::less_equal()));
  Tensor all = Tensor::empty(DType::int64, {n * each});
  world()->all_gather(Tensor::vector(mine), all);
  auto numbers = all.span<std::int64_t>();
  std::ranges::sort(numbers);
  for (std::int64_t i = 0; i < n * each; ++i) CHECK(numbers[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("one of all ranks that compare_and_swap from one value succeeds") {
  const auto window = any_window(8);
  const bool won = window->compare_and_swap(0, 0, 0, rank + 1) == 0;
  Tensor winners = Tensor::scalar<std::int32_t>(won ? 1 : 0);
  world()->all_reduce(winners);
  CHECK(winners.item<std::int32_t>() == 1);
  const std::int64_t stays = window->fetch_and_add(0, 0, 0);
  CHECK((stays == rank + 1) == won);
  world()->barrier();
}

TEST_CASE("accumulates of all ranks add up, and find extremes") {
  const auto window = any_window(4096);
  Tensor ones = Tensor::zeros(DType::float32, {500});
  std::ranges::fill(ones.span<float>(), 1);
  for (int i = 0; i < 40; ++i) window->accumulate(ones, 0, 0);
  window->accumulate(Tensor::vector<std::int32_t>({rank}), 0, 4000, Reduction::maximum);
  world()->barrier();
  Tensor sum = Tensor::zeros(DType::float32, {500});
  window->get(sum, 0, 0);
  CHECK(std::ranges::all_of(sum.span<float>(), [](float x) { return x == 40.0f * float(n); }));
  Tensor most = Tensor::scalar<std::int32_t>(-1);
  window->get(most, 0, 4000);
  CHECK(most.item<std::int32_t>() == n - 1);
  world()->barrier();
}

TEST_CASE("an exclusive lock keeps all others out, shared ones let each other in") {
  const auto window = any_window(16);
  Tensor count = Tensor::scalar<std::int64_t>(0);
  // Read, then write: without the lock some increments would be lost.
  for (int i = 0; i < 300; ++i) {
    const auto lock = window->lock(0, WindowLockKind::exclusive);
    window->get(count, 0, 0);
    window->put(Tensor::scalar(count.item<std::int64_t>() + 1), 0, 0);
  }
  world()->barrier();
  {
    const auto lock = window->lock(0, WindowLockKind::shared);
    window->get(count, 0, 0);
    CHECK(count.item<std::int64_t>() == 300 * n);
    window->fetch_and_add(0, 8, 1);
    while (window->fetch_and_add(0, 8, 0) < n) {  // all hold it at once, or this never ends
    }
  }
  world()->barrier();
}

TEST_CASE("asking for a lock whose holder died is an error, now and later") {
  const auto window = make_memory_window(world(), 8);
  const auto kind = GENERATE(WindowLockKind::shared, WindowLockKind::exclusive);
  if (rank == 0) die_after([&] { new auto(window->lock(0, kind)); });
  world()->barrier();
  for (int turn = 0; turn < 2; ++turn) {
    CHECK_THROWS_WITH(window->lock(0, WindowLockKind::exclusive),
                      Catch::Contains("rank 0 died with its lock"));
    if (kind == WindowLockKind::exclusive) {
      CHECK_THROWS_AS(window->lock(0, WindowLockKind::shared), CommunicationError);
    }
  }
  if (n > 1) (void)window->lock(n - 1, WindowLockKind::shared);
  world()->barrier();
}

TEST_CASE("places outside of a window are refused") {
  const auto window = any_window(12);
  const Tensor word = Tensor::scalar<std::int64_t>(0);
  CHECK_THROWS_AS(window->put(word, n, 0), ValueError);
  CHECK_THROWS_AS(window->put(word, 0, 8), ValueError);
  CHECK_THROWS_AS(window->put(word, 0, 4), ValueError);
  CHECK_THROWS_AS(window->fetch_and_add(0, 4, 1), ValueError);
  CHECK_THROWS_AS(window->compare_and_swap(0, std::size_t(-1), 0, 1), ValueError);
  CHECK_THROWS_AS(window->put(Tensor(), 0, 0), TypeError);
  for (int turn = 0; turn < 2; ++turn) {  // and the first leaves no lock behind
    CHECK_THROWS_AS(window->accumulate(Tensor::zeros(DType::boolean, {1}), 0, 0), TypeError);
  }
  CHECK_THROWS_AS(window->lock(-1, WindowLockKind::shared), ValueError);
}

TEST_CASE("one-sided calls are counted") {
  const auto window = any_window(64);
  const Traffic before = world()->traffic();
  Tensor words = Tensor::zeros(DType::int64, {3});
  window->put(words, (rank + 1) % n, 0);
  window->get(words, (rank + 1) % n, 0);
  (void)window->compare_and_swap((rank + 1) % n, 32, 0, 1);
  const Traffic since = world()->traffic().since(before);
  const std::int64_t others = n > 1 ? 1 : 0;
  CHECK(since.by_call.at("put") == Traffic::Line{1, 24 * others, 0});
  CHECK(since.by_call.at("get") == Traffic::Line{1, 0, 24 * others});
  CHECK(since.by_call.at("compare_and_swap") == Traffic::Line{1, 16 * others, 8 * others});
  world()->barrier();
}

TEST_CASE("a library's window has parts for the ranks of a group, and sums small floats") {
  if (world()->medium() != transport().description) {
    CHECK_THROWS_AS(make_memory_window(world(), 8, MemoryWindowKind::library), Unsupported);
    return;
  }
  const std::shared_ptr<Communicator> group = world()->split(rank % 2, -rank);  // backwards
  const auto window = make_memory_window(group, 8, MemoryWindowKind::library);
  Tensor two = Tensor::zeros(DType::float16, {1});
  *static_cast<std::uint16_t*>(two.raw()) = 0x4000;  // 2.0
  for (int i = 0; i < 20; ++i) window->accumulate(two, group->size() - 1, 2);
  window->put(Tensor::scalar<std::int16_t>(std::int16_t(rank)), group->rank(), 0);
  window->flush(group->rank());
  group->barrier();
  Tensor lowest = Tensor::scalar<std::int16_t>(-1), sum = Tensor::zeros(DType::float16, {1});
  window->get(lowest, group->size() - 1, 0);
  CHECK(lowest.item<std::int16_t>() == rank % 2);
  window->get(sum, group->size() - 1, 2);
  const std::uint16_t forty = 0x5100, eighty = 0x5500;  // 40 and 80, exact in float16
  CHECK(*static_cast<const std::uint16_t*>(sum.raw()) == (group->size() == 1 ? forty : eighty));
  group->barrier();
}

TEST_CASE("ranks that are on several nodes get the library's window unasked") {
  if (world()->medium() != transport().description) return;  // the one before asks for it
  // Its ranks stand for others, and so share no memory: were it asked for that, it would throw.
  const auto apart = std::make_shared<WireModel>(world(), WireOptions{.bytes_per_second = 1e12});
  if (n > 1) CHECK_THROWS_AS(make_memory_window(apart, 8, MemoryWindowKind::node), Unsupported);
  const auto window = make_memory_window(apart, 8);
  const int right = (rank + 1) % n;
  CHECK(window->fetch_and_add(right, 0, rank) == 0);
  apart->barrier();
  CHECK(*window->local().data<std::uint8_t>() == (rank + n - 1) % n);
}

TEST_CASE("a lock of a library's window is waited for no longer than any call") {
  if (world()->medium() != transport().description) return;
  CHECK(world()->longest_wait().count() == 0);
  const CallTimeout patient(world(), {.timeout = std::chrono::seconds(100)});
  CHECK(patient.longest_wait() == std::chrono::seconds(100));
  const auto window =
      make_memory_window(std::make_shared<Impatient>(world()), 8, MemoryWindowKind::library);
  using enum WindowLockKind;
  for (const WindowLockKind held : {exclusive, shared}) {
    std::optional<MemoryWindow::Lock> lock;
    if (rank == 0) lock.emplace(window->lock(0, held));
    world()->barrier();
    if (rank == 1) {
      const char* holder = held == shared ? "1 ranks share it" : "rank 0 holds it";
      CHECK_THROWS_WITH(window->lock(0, exclusive),
                        Catch::Contains("within 0.2 s") && Catch::Contains(holder));
    }
    world()->barrier();
    lock.reset();
    world()->barrier();
    if (rank == 1) (void)window->lock(0, exclusive);  // an abandoned wait leaves no lock
    world()->barrier();
  }
}

TEST_CASE("the memory of library windows is used again when all have let go") {
  if (world()->medium() != transport().description) return;
  constexpr std::size_t kBytes = 16 << 20;
  const auto make = [] { return make_memory_window(world(), kBytes, MemoryWindowKind::library); };
  // One rank's view of its part keeps a window.
  std::optional<Tensor> part;
  {
    const auto window = make();
    if (rank == 0) part = window->local();
    if (rank == 0) part->data<std::uint8_t>()[0] = 7;
  }
  const std::size_t begin = resident_bytes();
  for (int i = 0; i < 4; ++i) (void)make();
  if (rank == 0) CHECK(part->data<std::uint8_t>()[0] == 7);
// A sanitizer keeps a shadow of what is written, and memory that was let go.
#if !defined(D5_UNDER_THREAD_SANITIZER) && !defined(D5_UNDER_ADDRESS_SANITIZER)
  // The last one, and half as much for whatever else MPI takes.
  CHECK(resident_bytes() < begin + kBytes * 3 / 2);
#else
  (void)begin;
#endif
  world()->barrier();
}
