// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/distributed_trace.hpp"
#include <catch2/catch.hpp>
#include "d5/level3_distributed/communicator/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

using namespace d5;

namespace {

Timeline one_span(int rank) {
  Timeline timeline;
  timeline.ranks = {{.rank = rank, .host = "host"}};
  timeline.lanes = {{rank, 0, "thread 0"}};
  timeline.records = {{.rank = rank,
                       .lane = 0,
                       .id = 1,
                       .begin_ns = 1000 * rank,
                       .end_ns = 1000 * rank + 500,
                       .level = "test",
                       .name = "rank " + std::to_string(rank)}};
  return timeline;
}

}  // namespace

TEST_CASE("ranks of one machine share a clock") { CHECK(clock_offset(*world()) == ClockOffset{}); }

TEST_CASE("the offset of a clock is found within the uncertainty that is stated") {
  const int rank = world()->rank();
  const std::int64_t ahead = std::int64_t{1'000'000'000} * rank;
  const auto clock = [&] { return Trace::now_ns() + ahead; };
  const ClockOffset offset = estimate_clock_offset(*world(), clock);
  if (rank == 0) {
    CHECK(offset == ClockOffset{});
  } else {
    CHECK(offset.uncertainty_ns > 0);
    CHECK(std::abs(offset.offset_ns + ahead) <= offset.uncertainty_ns);
  }
}

TEST_CASE("a clock that drifts is followed from the first sample to the last") {
  // A clock that shows 7 s when rank 0's shows 0, and gains 50 us a second; samples that are off by
  // their uncertainty, in opposite directions.
  const double rate = 1 + 50e-6;
  const auto theirs = [&](double true_ns) { return 7e9 + rate * true_ns; };
  const auto sample = [&](double true_ns, std::int64_t error) {
    const auto at = static_cast<std::int64_t>(theirs(true_ns));
    return ClockSample{{static_cast<std::int64_t>(true_ns) - at + error, std::abs(error)}, at};
  };
  const double end_ns = 1e12;  // 1000 s, in which the clocks part by 50 ms
  const ClockOffset line = clock_line(sample(0, 900), sample(end_ns, -400));
  CHECK(line.uncertainty_ns == 900);
  CHECK(line.drift == Approx(-50e-6).epsilon(1e-3));  // 1300 ns of 50 ms are 3e-5 of it
  for (const double part : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const double off =
        static_cast<double>(line.moved(static_cast<std::int64_t>(theirs(part * end_ns)))) -
        part * end_ns;
    // Between 900 and -400, as the samples; 2 ns for numbers that were cut to whole ones.
    CHECK(std::abs(off - (900 - 1300 * part)) <= 2);
  }
  const ClockSample same{{.offset_ns = 5, .uncertainty_ns = 3}, 1000};
  CHECK(clock_line(same, same) == same.offset);
  CHECK(clock_line({{}, 0}, {{}, 1000}) == ClockOffset{});
}

TEST_CASE("a drift that is made up is found through messages") {
  const int rank = world()->rank();
  const std::int64_t origin = Trace::now_ns();
  const auto clock = [&] { return Trace::now_ns() + rank * (Trace::now_ns() - origin) / 10; };
  std::int64_t spent = 0;  // an offset belongs to some moment during the measurement
  const auto sample = [&] {
    const std::int64_t before = clock();
    const ClockSample taken{estimate_clock_offset(*world(), clock), clock()};
    spent += taken.at_ns - before;
    return taken;
  };
  const ClockSample begin = sample();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const ClockSample end = sample();
  // t is 1 / (1 + r/10) of (1 + r/10) t: the offset shrinks by the rest.
  const double drift = 1 / (1 + rank / 10.0) - 1;
  const double bound =
      (double(begin.offset.uncertainty_ns + end.offset.uncertainty_ns) - drift * double(spent)) /
      double(end.at_ns - begin.at_ns);
  CAPTURE(spent, bound);
  CHECK(std::abs(clock_line(begin, end).drift - drift) <= bound);
}

TEST_CASE("rank 0 gets all ranks' timelines as one on its clock") {
  const int rank = world()->rank(), n = world()->size();
  const Timeline all =
      gather_timeline(*world(), one_span(rank), {.offset_ns = -10 * rank, .uncertainty_ns = rank});
  if (rank != 0) {
    CHECK(all == Timeline{});
    return;
  }
  REQUIRE(all.records.size() == static_cast<std::size_t>(n));
  REQUIRE(all.ranks.size() == static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    const TraceRecord& record = all.records[static_cast<std::size_t>(r)];
    CHECK(record.rank == r);
    CHECK(record.name == "rank " + std::to_string(r));
    CHECK(record.begin_ns == 990 * r);
    CHECK(record.end_ns == 990 * r + 500);
    CHECK(all.ranks[static_cast<std::size_t>(r)].clock == ClockOffset{-10 * r, r});
  }
}

TEST_CASE("a call is a span with its bytes; what it started is another until it is complete") {
  Tensor data = Tensor::zeros(DType::float32, {1000});
  Trace::start({.rank = world()->rank()});
  world()->barrier();
  {
    auto first = world()->start_all_reduce(data);
    Tensor more = Tensor::zeros(DType::float32, {10});
    const auto second = world()->start_all_reduce(more);
    first->wait();
    while (!second->done()) {
    }
  }
  Trace::stop();
  const Timeline timeline = Trace::timeline();
  const auto of_kind = [&](TraceRecord::Kind kind, const std::string& name) {
    std::vector<TraceRecord> found;
    std::ranges::copy_if(timeline.records, std::back_inserter(found), [&](const auto& record) {
      return record.kind == kind && record.name == name;
    });
    return found;
  };
  using enum TraceRecord::Kind;
  const std::int64_t bytes = Traffic::of_all_reduce(4000, world()->size());
  const auto calls = of_kind(span, "all_reduce"), lives = of_kind(overlapping, "all_reduce");
  CHECK(of_kind(span, "barrier").size() == 1);
  CHECK(of_kind(span, "wait").size() == 1);
  REQUIRE(calls.size() == 2);
  REQUIRE(lives.size() == 2);
  CHECK(calls[0].level == "communication");
  const auto& told = calls[0].arguments;
  REQUIRE(told.size() == 4);
  CHECK(told[0] == TraceArgument{"bytes_sent", bytes});
  CHECK(told[1] == TraceArgument{"bytes_received", bytes});
  CHECK(told[2] == TraceArgument{"group", std::string("world")});
  CHECK(told[3].name == "number");
  CHECK(lives[0].parent == calls[0].id);
  CHECK(lives[1].parent == calls[1].id);
  // Both were under way at once.
  CHECK(lives[1].begin_ns < lives[0].end_ns);
  CHECK(lives[0].end_ns >= of_kind(span, "wait")[0].begin_ns);
}
