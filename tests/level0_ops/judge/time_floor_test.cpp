// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/time_floor.hpp"

#include <catch2/catch.hpp>

using namespace d5;
using Catch::Contains;

namespace {

/// A time of `line` on a machine of 1 Gflop/s in float32 and 1 GB/s.
Measurement timed(const std::string& line, double seconds) {
  Measurement record;
  record.metric = "time";
  record.unit = "s";
  record.samples = {2 * seconds, seconds};
  const MachinePeak peak{.float32_flop_rate = 1e9, .float64_flop_rate = 5e8, .byte_rate = 1e9};
  detail::judge_floor(record, detail::FreshCase(read_case(line), detail::JudgedPass::forward),
                      peak);
  return record;
}

}  // namespace

TEST_CASE("a time below a fifth of the work at the peak is impossible") {
  // 2 x 100^3 operations take 2 ms at the peak, and 0.38 ms by the thriftiest algorithm.
  const Measurement right = timed("MatMul 100x100 100x100", 0.39e-3);
  CHECK(right.status == Status::passed);
  CHECK(condition_number(right, "floor") == Approx(0.38e-3));
  const Measurement wrong = timed("MatMul 100x100 100x100", 0.37e-3);
  CHECK(wrong.status == Status::failed);
  CHECK(condition_of(wrong, "fault") == "impossible");
  CHECK_THAT(wrong.reason, Contains("impossible") && Contains("370"));
  CHECK(timed("MatMul float64:100x100 float64:100x100", 0.7e-3).status == Status::failed);
}

TEST_CASE("tensors that fit the caches have no floor of bandwidth") {
  const Measurement record = timed("Identity 16x16", 1e-9);
  CHECK(record.status == Status::passed);
  CHECK(condition_number(record, "floor") == 0);
}

TEST_CASE("a machine of unknown peak has no floor, and says so") {
  Measurement record;
  record.samples = {1e-12};
  detail::judge_floor(
      record, detail::FreshCase(read_case("MatMul 9x9 9x9"), detail::JudgedPass::forward), {});
  CHECK(record.status == Status::passed);
  CHECK_THAT(condition_of(record, "floor"), Contains("unknown"));
}
