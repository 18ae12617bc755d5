// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"
#include "tests/level3_distributed/node/this_rank.hpp"
#include "tests/sanitizers.hpp"

using namespace d5;
using testing::n, testing::rank;

namespace {

/// A limit of this process, until the end of the scope.
class Limited {
 public:
  Limited(__rlimit_resource what, rlim_t most) : what_(what) {
    getrlimit(what, &before_);
    rlimit limit = before_;
    limit.rlim_cur = most;
    setrlimit(what, &limit);
  }
  ~Limited() { setrlimit(what_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource what_;
  rlimit before_ = {};
};

}  // namespace

TEST_CASE("what one rank writes to node memory the others read") {
  const auto memory = NodeMemory::make(*world(), 4 * static_cast<std::size_t>(n));
  Tensor all = memory->at(0, {DType::int32, {n}});
  CHECK(all.data<std::int32_t>()[rank] == 0);
  all.data<std::int32_t>()[rank] = 7 * rank;
  world()->barrier();
  for (int r = 0; r < n; ++r) CHECK(all.data<std::int32_t>()[r] == 7 * r);
  world()->barrier();
}

TEST_CASE("a tensor keeps node memory alive, and cannot pass its end") {
  auto memory = NodeMemory::make(*world(), 64);
  Tensor shared = memory->at(32, {DType::uint8, {32}});
  CHECK_THROWS_AS(memory->at(33, {DType::uint8, {32}}), ShapeError);
  CHECK_THROWS_AS(memory->at(65, {DType::uint8, {0}}), ShapeError);
  memory.reset();
  world()->barrier();
  if (rank == n - 1) shared.data<std::uint8_t>()[31] = 9;
  world()->barrier();
  CHECK(shared.data<std::uint8_t>()[31] == 9);
}

TEST_CASE("ranks that ask for different sizes are an error on every rank") {
  if (n == 1) return;
  const std::size_t bytes = rank == n - 1 ? 128 : 64;
  CHECK_THROWS_WITH(
      NodeMemory::make(*world(), bytes),
      Catch::Contains("rank 0 asks for 64 bytes, rank " + std::to_string(n - 1) + " for 128"));
}

TEST_CASE("memory that does not fit is refused on every rank, before it is taken") {
  struct statvfs room = {};
  REQUIRE(statvfs("/dev/shm", &room) == 0);
  const std::size_t free = room.f_bavail * room.f_frsize;
  world()->barrier();
  CHECK_THROWS_AS(NodeMemory::make(*world(), free + 1), MemoryError);
  CHECK_THROWS_WITH(NodeMemory::make(*world(), std::size_t{1} << 50),
                    Catch::StartsWith("rank 0: "));
}

TEST_CASE("room that is gone when it is taken is an error on every rank") {
  if (rank == 0) std::signal(SIGXFSZ, SIG_IGN);
  {
    // A file that may not grow stands for a device that was filled meanwhile.
    const Limited small(RLIMIT_FSIZE, rank == 0 ? 4096 : RLIM_INFINITY);
    CHECK_THROWS_AS(NodeMemory::make(*world(), 8192), MemoryError);
  }
  CHECK(NodeMemory::make(*world(), 8192)->bytes() == 8192);
}

TEST_CASE("one rank that cannot open the memory is an error on every rank") {
#ifdef D5_UNDER_ADDRESS_SANITIZER
  WARN("left out: the check of an error's type opens a pipe, for which no number is left");
  return;
#endif
  if (n == 1) return;
  const int next = dup(0);  // the next number that a file would get
  close(next);
  {
    const Limited none(RLIMIT_NOFILE, static_cast<rlim_t>(rank == n - 1 ? next : 1024));
    CHECK_THROWS_WITH(NodeMemory::make(*world(), 64),
                      Catch::StartsWith("rank " + std::to_string(n - 1) + ": node memory: "));
  }
  CHECK(NodeMemory::make(*world(), 64)->bytes() == 64);
}

TEST_CASE("node memory has no name, so that nothing of it stays when its ranks are killed") {
  const auto memory = NodeMemory::make(*world(), 1 << 16);
  std::ostringstream begin;
  begin << std::hex << reinterpret_cast<std::uintptr_t>(memory->data()) << '-';
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line) && !line.starts_with(begin.str())) {
  }
  CHECK_THAT(line, Catch::Contains("/dev/shm/") && Catch::EndsWith(" (deleted)"));
}

TEST_CASE("the ranks of one machine are one node") {
  const auto node = node_group(*world());
  CHECK(node->size() == n);
  CHECK(node->rank() == rank);
  const auto of_pairs = world()->split(rank / 2);
  CHECK(node_group(*of_pairs)->size() == of_pairs->size());
}

TEST_CASE("no rank leaves a node's barrier before all have come, and a wait ends at its deadline") {
  using namespace std::chrono_literals;
  const auto memory = NodeMemory::make(*world(), 2 * NodeBarrier::bytes(n) + 128);
  NodeBarrier barrier(memory, 0, rank, n);
  auto& arrivals = *reinterpret_cast<NodeCounter*>(memory->data() + 2 * NodeBarrier::bytes(n));
  for (int turn = 1; turn <= 50; ++turn) {
    arrivals.value.fetch_add(1);
    CHECK(barrier.arrive_and_wait());
    CHECK(arrivals.read() >= std::int64_t{n} * turn);
    CHECK(barrier.arrive_and_wait());
  }
  NodeBarrier lonely(memory, NodeBarrier::bytes(n), rank, n);
  if (rank == 0) {
    const auto deadline = std::chrono::steady_clock::now() + 20ms;
    CHECK(lonely.arrive_and_wait(deadline) == (n == 1));
    if (n > 1) CHECK(std::chrono::steady_clock::now() >= deadline);
  }
  world()->barrier();
}
