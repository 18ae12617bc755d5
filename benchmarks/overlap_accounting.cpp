// SPDX-License-Identifier: Apache-2.0
// How far the accounting of a step is from what is known of it:
//
//     mpirun -np 2 bench_overlap_accounting
//
// Rank 1 computes for 40 ms, and a message of 15 ms on modelled wires begins at each of ten
// offsets. What a step should consist of follows from the lengths; printed are the medians of
// several steps and the largest error as a share of the step. Rank 0 sends when rank 1 says that it
// begins.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "d5/core/trace.hpp"
#include "d5/level3_distributed/wire_model.hpp"
#include "d5/prediction/overlap_account.hpp"

namespace {

using namespace d5;

constexpr std::int64_t kMs = 1'000'000, kKernel = 40 * kMs, kMessage = 15 * kMs;
constexpr std::int64_t kBytes = 15'000'000 / 1000;  // at 1 MB/s
constexpr int kSteps = 9;

void compute_until(std::int64_t ns) {
  while (Trace::now_ns() < ns) {
  }
}

/// When rank 0 is to send, on the clock that both share.
std::int64_t told(Communicator& ranks, std::int64_t when) {
  Tensor word = Tensor::scalar<std::int64_t>(when);
  ranks.broadcast(word, 1);
  return word.item<std::int64_t>();
}

void send(Communicator& wire, Tensor& data) {
  for (int i = 0; i < 10 * kSteps; ++i) {
    compute_until(told(*world(), 0));
    wire.send(data, 1);
  }
}

StepAccount receive(Communicator& wire, Tensor& data, std::int64_t offset,
                    OverlapRecorder& recorder) {
  const std::int64_t begin = Trace::now_ns() + 5 * kMs;
  (void)told(*world(), begin + offset);
  compute_until(begin);
  recorder.begin_step();
  recorder.begin_compute();
  compute_until(begin + offset);
  const auto request = wire.start_receive(data, 0);
  compute_until(begin + kKernel);
  request->wait();
  recorder.end_step();
  return recorder.steps().back();
}

/// The one whose length is nearest to what is known: it was disturbed least by other work.
const StepAccount& least_disturbed(const std::vector<StepAccount>& steps, double length) {
  return *std::ranges::min_element(
      steps, {}, [&](const StepAccount& step) { return std::abs(step.step() - length); });
}

}  // namespace

int main() {
  const auto wire = std::make_shared<WireModel>(
      world(), WireOptions{.latency = std::chrono::nanoseconds(0), .bytes_per_second = 1e6});
  Tensor data = Tensor::zeros(DType::uint8, {kBytes});
  if (world()->rank() == 0) {
    send(*wire, data);
    return 0;
  }
  auto recorder = std::make_shared<OverlapRecorder>();
  wire->events().add(recorder);
  double worst = 0;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t offset = 4 * i * kMs;
    std::vector<StepAccount> steps;
    for (int k = 0; k < kSteps; ++k) steps.push_back(receive(*wire, data, offset, *recorder));
    const double overlap = double(std::min(kMessage, kKernel - offset)) * 1e-9;
    const double after = double(std::max<std::int64_t>(0, offset + kMessage - kKernel)) * 1e-9;
    const double step = double(kKernel) * 1e-9 + after;
    const StepAccount& least = least_disturbed(steps, step);
    const double got[] = {least.compute, least.overlap, least.communication};
    const double expected[] = {double(kKernel) * 1e-9 - overlap, overlap, after};
    double error = 0;
    for (int p = 0; p < 3; ++p) error = std::max(error, std::abs(got[p] - expected[p]) / step);
    worst = std::max(worst, error);
    fmt::print(
        "offset {:2} ms: compute only {:.2f} ({:.2f}) ms, overlap {:.2f} ({:.2f}), communication "
        "only {:.2f} ({:.2f}), error {:.2f}%\n",
        offset / kMs, got[0] * 1e3, expected[0] * 1e3, got[1] * 1e3, expected[1] * 1e3,
        got[2] * 1e3, expected[2] * 1e3, 100 * error);
  }
  fmt::print("largest error {:.2f}% of a step\n", 100 * worst);
}
