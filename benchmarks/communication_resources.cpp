// SPDX-License-Identifier: Apache-2.0
// Cost of giving a call other resources than the one before:
//
//     mpirun -np 2 bench_communication_resources
//
// Measures starts of small all-reduces through node memory, in pairs: with the same resources, and
// with different ones each time. The difference of the medians is the cost of the change.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communication_resources.hpp"

namespace {

using namespace d5;

using Options = std::shared_ptr<const CallOptions>;

Options call_options(const std::string& words) {
  return std::make_shared<const CallOptions>(CallOptions{.resources = resources_of(words)});
}

/// Microseconds of one start; waiting for the end is outside the clock.
double start_time(AllReduce& algorithm, Tensor& data, const Options& options) {
  const auto ranks = world();
  ranks->barrier();
  const double begin = now_seconds();  // inside: the start alone
  const auto request = ranks->with(options, [&] { return algorithm.start(*ranks, data); });
  const double seconds = now_seconds() - begin;
  request->wait();
  return seconds * 1e6;
}

void compare_starts(const std::string& what, const Options& a, const Options& b) {
  const auto algorithm = all_reduces().at("node_memory").make();
  Tensor data = Tensor::zeros(DType::float32, {16});
  std::vector<double> same, changed;
  for (int i = 0; i < 300; ++i) {
    (void)start_time(*algorithm, data, a);
    same.push_back(start_time(*algorithm, data, a));
    (void)start_time(*algorithm, data, b);
    changed.push_back(start_time(*algorithm, data, a));
  }
  if (world()->rank() != 0) return;
  const Summary x = summarise(same), y = summarise(changed);
  fmt::print("{:<40} same {:6.2f} us, changed {:6.2f} us, the change {:6.2f} us\n", what, x.median,
             y.median, y.median - x.median);
}

}  // namespace

int main() {
  const auto poll = call_options("threads=0"), yields = call_options("threads=0:waiting=yield");
  compare_starts("waiting", poll, yields);
  compare_starts("chunk", poll, call_options("threads=0:chunk=4KiB"));
  compare_starts("threads 1 and 0", call_options("threads=1"), poll);
  if (std::thread::hardware_concurrency() < 2) return 0;
  compare_starts("cores 0 and 1", call_options("threads=1:cores=0"),
                 call_options("threads=1:cores=1"));
}
