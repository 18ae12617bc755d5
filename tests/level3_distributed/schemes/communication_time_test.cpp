// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

using namespace d5;

namespace {

/// The time in communication of one run, and that of all of it.
std::pair<double, double> times_of(const std::function<void()>& run) {
  const auto metric = metrics().at("communication_time").make();
  metric->begin(1);
  const double begin = now_seconds();
  run();
  const double all = now_seconds() - begin;
  metric->end();
  Measurement record;
  metric->summarise(record);
  return {record.samples.at(0), all};
}

}  // namespace

TEST_CASE("time in communication is that of calls and waits, and no other") {
  using namespace std::chrono_literals;
  Tensor data = Tensor::zeros(DType::float32, {100});
  CHECK(times_of([] { std::this_thread::sleep_for(5ms); }).first == 0);
  const auto [called, whole] = times_of([&] { world()->all_reduce(data); });
  CHECK(called > 0);
  CHECK(called <= whole);
  // Rank 0 comes late; the others wait for it, whether they asked at once or later.
  for (const bool started : {false, true}) {
    world()->barrier();
    const auto [waited, all] = times_of([&] {
      if (world()->rank() == 0) std::this_thread::sleep_for(50ms);
      if (!started) return world()->all_reduce(data);
      const auto request = world()->start_all_reduce(data);
      request->wait();
    });
    INFO(started);
    CHECK(waited <= all);
    if (world()->rank() == 0) {
      CHECK(all - waited >= 0.05);  // the sleep is not communication
    } else {
      CHECK(waited > 0);
    }
  }
  // The observers are removed.
  CHECK(world()->events().empty());
}
