// SPDX-License-Identifier: Apache-2.0
// Error of the accounting of a step whose parts are known:
//
//     mpirun -np 2 bench_overlap_accounting
//
// Rank 1 computes for 40 ms, and a message of 15 ms on modelled wires begins at each of ten
// offsets. The ranks' own clocks give the times at which rank 1 began, asked and ended its
// computation, and at which rank 0 sent; with the message's duration they determine the parts of
// the step. Prints medians over several steps: each part, its true value, and the largest error as
// a share of the step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "d5/core/statistics/statistics.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"
#include "d5/prediction/overlap/overlap_account.hpp"

namespace {

using namespace d5;

constexpr std::int64_t kMs = 1'000'000, kKernel = 40 * kMs, kMessage = 15 * kMs;
constexpr std::int64_t kBytes = 15'000'000 / 1000;  // at 1 MB/s
constexpr int kSteps = 9;

void compute_until(std::int64_t ns) {
  while (Trace::now_ns() < ns) {
  }
}

/// A time of rank `root`, on the clock shared by both.
std::int64_t told(std::int64_t when, int root) {
  Tensor word = Tensor::scalar<std::int64_t>(when);
  world()->broadcast(word, root);
  return word.item<std::int64_t>();
}

void send(Communicator& wire, Tensor& data) {
  for (int i = 0; i < 10 * kSteps; ++i) {
    compute_until(told(0, 1));
    const std::int64_t sent = Trace::now_ns();
    wire.send(data, 1);
    (void)told(sent, 0);
  }
}

/// The parts of a step in ms: accounted and known.
struct Parts {
  double compute, overlap, communication;
};
struct JudgedStep {
  Parts accounted, known;
  double error;  ///< the largest, as a share of the step
};

JudgedStep receive(Communicator& wire, Tensor& data, std::int64_t offset,
                   OverlapRecorder& recorder) {
  const std::int64_t begin = Trace::now_ns() + 5 * kMs;
  (void)told(begin + offset, 1);
  compute_until(begin);
  recorder.begin_step();
  recorder.begin_compute();
  const std::int64_t began = Trace::now_ns();
  compute_until(begin + offset);
  const std::int64_t asked = Trace::now_ns();
  const auto request = wire.start_receive(data, 0);
  compute_until(begin + kKernel);
  const std::int64_t computed = Trace::now_ns();
  request->wait();
  recorder.end_step();
  const std::int64_t arrived = told(0, 0) + kMessage;
  const StepAccount& step = recorder.steps().back();
  const auto ms = [](std::int64_t ns) { return double(std::max<std::int64_t>(0, ns)) * 1e-6; };
  JudgedStep judged{{step.compute * 1e3, step.overlap * 1e3, step.communication * 1e3},
                    {ms(asked - began) + ms(computed - std::max(arrived, asked)),
                     ms(std::min(arrived, computed) - asked), ms(arrived - computed)},
                    0};
  for (double Parts::* part : {&Parts::compute, &Parts::overlap, &Parts::communication}) {
    judged.error = std::max(
        judged.error, std::abs(judged.accounted.*part - judged.known.*part) / (step.step() * 1e3));
  }
  return judged;
}

double median_of(const std::vector<JudgedStep>& steps, Parts JudgedStep::* side,
                 double Parts::* part) {
  std::vector<double> values;
  for (const JudgedStep& step : steps) values.push_back(step.*side.*part);
  return summarise(values).median;
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
    std::vector<JudgedStep> steps;
    std::vector<double> errors;
    for (int k = 0; k < kSteps; ++k) {
      steps.push_back(receive(*wire, data, 4 * i * kMs, *recorder));
      errors.push_back(steps.back().error);
    }
    fmt::print("offset {:2} ms", 4 * i);
    for (const auto& [name, part] : {std::pair{"compute only", &Parts::compute},
                                     {"overlap", &Parts::overlap},
                                     {"communication only", &Parts::communication}}) {
      fmt::print(", {} {:.2f} ({:.2f}) ms", name, median_of(steps, &JudgedStep::accounted, part),
                 median_of(steps, &JudgedStep::known, part));
    }
    const double error = summarise(errors).median;
    worst = std::max(worst, error);
    fmt::print(", error {:.2f}%\n", 100 * error);
  }
  fmt::print("largest error {:.2f}% of a step\n", 100 * worst);
}
