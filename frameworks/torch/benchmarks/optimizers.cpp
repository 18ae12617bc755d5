// SPDX-License-Identifier: Apache-2.0
// Measures a step of each of d5's rules on the parameters of ResNet-50 (25.6 million in 161
// tensors), interleaved with the fused kernel at::_fused_adam_ and, for Adam, torch::optim::Adam.
// Adam is also measured with gradient clipping by norm; its peers then run after torch's
// clip_grad_norm_.
//
//     bench_torch_optimizers [options of Google Benchmark] [THREADS]
//     bench_torch_optimizers --benchmark_filter='^(adam|lamb)/' 2
//
// Counters: seconds per step; bytes that the formula reads and writes (gradient, parameter and
// state once, a tensor's norm once more), per second, and as a share of the rate of plain sums over
// Adam's arrays; the peers' seconds over the rule's (above 1: the rule is faster). For rules with
// matrix products also their floating-point operations, without matrix roots, and their rate as a
// share of at::mm's for 1024 x 1024.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>

#include "d5/core/entries/framework.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "frameworks/torch/benchmarks/optimizer_peers.hpp"
#include "tests/level2_training/scripted_executor.hpp"

using namespace d5::benchmarks;

namespace {

/// Rules with curvature pairs use a quadratic bowl: the gradient is the parameter times a factor
/// for each element.
bool wants_bowl(const std::string& rule) { return rule.ends_with("lbfgs"); }

struct Case {
  std::string rule = {};
  d5::Settings settings = {};
  double arrays_once_more = 0;  ///< in another pass, for norms
  double flop = 0;              ///< FLOP of matrix products
  Clip clip = Clip::no;
};

d5::Subject rule(const Case& which) {
  auto executor = std::make_unique<d5::test::ScriptedExecutor>(
      [] {
        Named result;
        for (const auto& [name, tensor] : start()) result.emplace_back(name, tensor.copy());
        return result;
      }(),
      [first = true, bowl = wants_bowl(which.rule)](d5::Network& network, std::int64_t) mutable {
        auto& parameters = network.parameters();
        const bool done = !std::exchange(first, false) && !bowl;
        for (std::size_t i = 0; i < parameters.size() && !done; ++i) {
          const d5::Tensor& given = gradients()[i].second;
          if (!bowl) {
            parameters[i].gradient.copy_from(given);
            continue;
          }
          const float *factor = given.data<float>(), *w = parameters[i].value.data<float>();
          float* g = parameters[i].gradient.data<float>();
          d5::parallel_for(given.elements(), 1 << 16, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t e = begin; e < end; ++e) g[e] = (1 + factor[e]) * w[e];
          });
        }
        return 0.0;
      });
  const auto optimizer =
      d5::open_optimizer(which.rule, std::move(executor), "loss", which.settings);
  // The first epochs of some optimizers build state for the later ones.
  (void)optimizer->step({.values = {}, .size = 1, .epoch = 1});
  const auto step = [optimizer] { (void)optimizer->step({.values = {}, .size = 1, .epoch = 2}); };
  for (int i = 0; i < 6 && wants_bowl(which.rule); ++i) step();
  double remembered = 0;
  for (const auto& [key, value] : optimizer->state()) remembered += double(value.tensor().bytes());
  return {.run = step,
          .work = {.flop = which.flop,
                   .bytes = (3 + which.arrays_once_more) * kArray + 2 * remembered}};
}

void run(benchmark::State& state, const Case& which) {
  const Peers& peers = Peers::of(which.clip);
  std::vector<d5::Subject> subjects{rule(which), peers.fused, peers.sums};
  const double bytes = subjects[0].work.bytes;
  const bool is_adam = which.rule == "adam", has_products = which.flop > 0;
  if (is_adam) subjects.push_back(peers.optim);
  if (has_products) subjects.push_back(peers.product);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    subjects[i].record.subject = std::to_string(i);
  }
  std::vector<d5::Measurement> records;
  const d5::MeasureOptions options{.samples = 10, .warmup = 1, .most_seconds = 8};
  for (auto _ : state) records = d5::measure(subjects, {"time"}, options);
  std::vector<double> seconds;
  for (const auto& record : records) {
    if (record.metric == "time") seconds.push_back(d5::estimate(record).value);
  }
  state.counters["seconds"] = seconds.at(0);
  state.counters["bytes"] = bytes;
  state.counters["bytes_per_second"] = bytes / seconds.at(0);
  state.counters["of_bandwidth"] = bytes / seconds.at(0) / (kBytesOfSums / seconds.at(2));
  state.counters["over_fused_adam"] = seconds.at(1) / seconds.at(0);
  if (is_adam) state.counters["over_torch_optim_adam"] = seconds.at(3) / seconds.at(0);
  if (!has_products) return;
  state.counters["flop"] = which.flop;
  state.counters["flop_per_second"] = which.flop / seconds.at(0);
  state.counters["of_product"] = which.flop / seconds.at(0) / (kFlopOfProduct / seconds.at(3));
}

void add(const std::string& name, const Case& which) {
  benchmark::RegisterBenchmark((name + "/resnet50").c_str(),
                               [=](benchmark::State& state) { run(state, which); })
      ->Iterations(1)
      ->Unit(benchmark::kSecond);
}

/// FLOP of Muon's products, for matrices only: a Gram matrix, its square, and their product with X.
double muon_flop() {
  constexpr double kIterations = 5;
  double flop = 0;
  for (const d5::Shape& shape : shapes()) {
    if (shape.rank() != 2) continue;
    const double side = double(std::min(shape[0], shape[1]));
    flop += kIterations * (4 * side * double(shape.elements()) + 2 * side * side * side);
  }
  return flop;
}

/// FLOP of Shampoo for sides up to the largest: the sum of products, and the root times the
/// gradient.
double shampoo_flop(std::int64_t largest_side) {
  double flop = 0;
  for (const d5::Shape& shape : shapes()) {
    const std::int64_t rows = shape[0], columns = shape.elements() / rows;
    if (rows <= largest_side) flop += 4.0 * double(rows * rows * columns);
    if (shape.rank() > 1 && columns <= largest_side) {
      flop += 4.0 * double(columns * columns * rows);
    }
  }
  return flop;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string version = d5::framework("torch").version();  // before threads are set
  d5::set_threads(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
  benchmark::AddCustomContext("libtorch", version);
  // Eigenvectors are computed at intervals and for short sides only; otherwise they would dominate
  // a step. Few vectors in float64, and no line search: a step is one direction.
  constexpr std::int64_t kLargestSide = 256;
  std::map<std::string, Case> special{
      {"lars", {.arrays_once_more = 2}},        // w, g
      {"lamb", {.arrays_once_more = 3}},        // w, m, v
      {"adafactor", {.arrays_once_more = 3}},   // w, and g twice
      {"accelegrad", {.arrays_once_more = 1}},  // g
      {"muon", {.flop = muon_flop()}},
      {"shampoo",
       {.settings = {{"every", 100}, {"largest_side", kLargestSide}},
        .flop = shampoo_flop(kLargestSide)}},
      {"lbfgs", {.settings = {{"history", 4}, {"iterations", 1}, {"line_search", "none"}}}},
      {"stochastic_lbfgs", {.settings = {{"history", 4}, {"every", 2}}}},
  };
  for (const std::string& name : d5::optimizers().names()) {
    Case& which = special[name];
    which.rule = name;
    add(name, which);
  }
  add("torch/adam", {.rule = "torch/adam"});
  add("adam_with_clip_norm",
      {.rule = "adam",
       .settings = {{"modifiers.0.name", "clip_norm"}, {"modifiers.0.most", kMostNorm}},
       .arrays_once_more = 1,
       .clip = Clip::yes});
  benchmark::RunSpecifiedBenchmarks();
}
