// SPDX-License-Identifier: Apache-2.0
// What comparing every element costs: Relu of 10,000 to 10 million elements in a judged process.
// Counters, in ms: the call, the comparison of its output, and all that the judge does for a call.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/level0_ops/judge/judge.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace d5;

constexpr const char* kRelu = R"(
#include "d5/abi.h"
static d5_status run(void*, const d5_call* call, d5_error*) {
  const float* x = static_cast<const float*>(call->inputs[0].data);
  float* y = static_cast<float*>(call->outputs[0].data);
  for (long i = 0; i < call->inputs[0].dims[0]; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  return D5_OK;
}
static d5_operator op;
const d5_operator_table* d5_custom_operators() {
  op.domain = "timed", op.name = "Relu", op.since_version = 1, op.forward = run;
  static const d5_operator_table table = {D5_ABI_VERSION, sizeof op, 1, &op};
  return &table;
}
)";

double comparing_seconds(std::int64_t elements) {
  const Value one = parse_case("Relu " + std::to_string(elements)).inputs.at(0);
  Value other = Tensor::zeros(DType::float32, one.tensor().shape());
  other.tensor().copy_from(one.tensor());
  std::vector<double> seconds;
  for (int i = 0; i < 9; ++i) {
    const double begin = now_seconds();
    benchmark::DoNotOptimize(compare_values(one, other, ForwardTolerance{}));
    seconds.push_back(now_seconds() - begin);
  }
  return summarise(seconds).median;
}

void judged_large(benchmark::State& state) {
  set_threads(1);
  const std::int64_t elements = state.range(0);
  const d5::testing::TemporaryFolder folder;
  write_file(folder / "relu.cpp", kRelu);
  std::vector<double> ends;
  Measurement judged;
  for (auto _ : state) {
    const JudgeOptions options{
        .samples = 12, .warmup = 0, .on_sample = [&] { ends.push_back(now_seconds()); }};
    const auto cases = expand_case("Relu " + std::to_string(elements));
    judged = judge_source(folder / "relu.cpp", cases, options).front();
  }
  if (judged.samples.empty()) return state.SkipWithError(judged.reason.c_str());
  std::vector<double> whole;
  for (std::size_t i = 1; i < ends.size(); ++i) whole.push_back(ends[i] - ends[i - 1]);
  state.counters["call_ms"] = summarise(judged.samples).median * 1e3;
  state.counters["compare_ms"] = comparing_seconds(elements) * 1e3;
  state.counters["judge_ms"] = summarise(whole).median * 1e3;
}
BENCHMARK(judged_large)->RangeMultiplier(10)->Range(10'000, 10'000'000)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
