// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/late_arrivals.hpp"
#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/distributed_trace.hpp"

using namespace d5;
using namespace std::chrono_literals;

namespace {

TraceRecord call(int rank, std::int64_t number, std::int64_t begin_s, std::int64_t end_s,
                 const std::string& name = "all_reduce") {
  return {.rank = rank,
          .lane = 0,
          .begin_ns = begin_s * 1'000'000'000,
          .end_ns = end_s * 1'000'000'000,
          .level = "communication",
          .name = name,
          .arguments = {{"group", std::string("world")}, {"number", number}}};
}

}  // namespace

TEST_CASE("the last rank at a collective made the others wait from their arrival") {
  Timeline timeline;
  // 0: rank 2 is last. 1: started by all, waited for before and after the last, rank 0, came.
  timeline.records = {
      call(0, 0, 1, 9),           call(1, 0, 3, 9),           call(2, 0, 7, 9),
      call(1, 1, 10, 11),         call(1, 1, 12, 18, "wait"), call(2, 1, 10, 11),
      call(2, 1, 16, 18, "wait"), call(0, 1, 15, 16),         call(0, 1, 16, 18, "wait")};
  const auto arrivals = late_arrivals(timeline);
  // Starting a call counts as waiting, if the last rank has not arrived.
  CHECK(arrivals ==
        std::vector<LateArrival>{{2, 0, 1, 6.0}, {0, 1, 2, 4.0}, {2, 1, 1, 4.0}, {0, 2, 1, 1.0}});
}

TEST_CASE("a rank that sleeps before a collective is named by all that waited") {
  if (world()->size() == 1) return;
  world()->barrier();
  Trace::start({.rank = world()->rank()});
  Tensor data = Tensor::zeros(DType::float32, {10});
  if (world()->rank() == 1) std::this_thread::sleep_for(60ms);
  world()->all_reduce(data);
  if (world()->rank() == 1) std::this_thread::sleep_for(60ms);
  const auto request = world()->start_all_reduce(data);
  request->wait();
  Trace::stop();
  const Timeline all = gather_timeline(*world(), Trace::timeline(), {});
  if (world()->rank() != 0) return;
  double waited = 0;
  for (const LateArrival& one : late_arrivals(all)) {
    if (one.late == 1 && one.waiting == 0) waited = one.seconds;
  }
  // It slept twice; by how much others came later than it began to is not known, but it is less.
  CHECK(waited > 0.06);
}
