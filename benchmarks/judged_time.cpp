// SPDX-License-Identifier: Apache-2.0
// What a judge adds to a time: calls of 1 us to 1 ms in a judged process, in turn with calls of the
// same library in this one. Counters: both medians, their difference and their ratio.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "d5/abi.h"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/ratio.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/level0_ops/judge/judge.hpp"
#include "d5/level0_ops/operator/build_operators.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace d5;

/// Relu after `steps` divisions, each of which waits for the one before.
std::string source_of(std::int64_t steps) {
  return fmt::format(R"(
#include "d5/abi.h"
static d5_status run(void*, const d5_call* call, d5_error*) {{
  const float* x = static_cast<const float*>(call->inputs[0].data);
  float* y = static_cast<float*>(call->outputs[0].data);
  volatile double start = 1;
  double wait = start;
  for (long i = 0; i < {}; ++i) wait = 1 / (wait + 1);
  for (long i = 0; i < call->inputs[0].dims[0]; ++i) y[i] = (x[i] > 0 ? x[i] : 0) + float(wait * 1e-30);
  return D5_OK;
}}
static d5_operator op;
const d5_operator_table* d5_custom_operators() {{
  op.domain = "timed", op.name = "Relu", op.since_version = 1, op.forward = run;
  static const d5_operator_table table = {{D5_ABI_VERSION, sizeof op, 1, &op}};
  return &table;
}}
)",
                     steps);
}

/// The library's operator in this process.
class OwnCall {
 public:
  explicit OwnCall(const std::string& source) {
    void* library = ::dlopen(build_operators(source).c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto table =
        reinterpret_cast<const d5_operator_table* (*)()>(::dlsym(library, "d5_custom_operators"));
    run_ = table()->operators->forward;
    call_.size = sizeof call_;
    call_.inputs = &x_, call_.outputs = &y_, call_.input_count = call_.output_count = 1;
  }
  double seconds() {
    d5_error error{};
    const double begin = now_seconds();  // the clock: the call alone
    run_(nullptr, &call_, &error);
    return now_seconds() - begin;
  }

 private:
  static constexpr std::int64_t kElements = 64;
  std::vector<float> from_ = std::vector<float>(kElements, 1.0F), to_ = from_;
  std::int64_t dims_[1] = {kElements};
  d5_tensor x_{from_.data(), dims_, 1, 1}, y_{to_.data(), dims_, 1, 1};
  d5_call call_{};
  decltype(d5_operator::forward) run_;
};

/// Steps of a call of so many seconds.
std::int64_t steps_for(double seconds) {
  constexpr std::int64_t kSteps = 1 << 20;
  OwnCall call(source_of(kSteps));
  double least = call.seconds();
  for (int i = 0; i < 10; ++i) least = std::min(least, call.seconds());
  return std::max<std::int64_t>(1, std::int64_t(seconds / least * double(kSteps)));
}

void judged_time(benchmark::State& state) {
  set_threads(1);
  const d5::testing::TemporaryFolder folder;
  const std::string source = source_of(steps_for(1e-6 * double(state.range(0))));
  write_file(folder / "relu.cpp", source);
  OwnCall own(source);
  Measurement here{.framework = "in process", .metric = "time", .unit = "s"};
  Measurement judged;
  for (auto _ : state) {
    const JudgeOptions options{
        .samples = 300, .warmup = 0, .on_sample = [&] { here.samples.push_back(own.seconds()); }};
    judged = judge_source(folder / "relu.cpp", expand_case("Relu 64"), options).front();
  }
  if (judged.samples.empty()) return state.SkipWithError(judged.reason.c_str());
  judged.status = here.status;
  const Estimate ratio = estimate(ratio_record(judged, here));
  const double with = summarise(judged.samples).median, without = summarise(here.samples).median;
  state.counters["in_process_us"] = without * 1e6;
  state.counters["judged_us"] = with * 1e6;
  state.counters["added_us"] = (with - without) * 1e6;
  state.counters["ratio"] = ratio.value;
  state.counters["ratio_low"] = ratio.interval.low;
  state.counters["ratio_high"] = ratio.interval.high;
}
BENCHMARK(judged_time)->RangeMultiplier(10)->Range(1, 1000)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
