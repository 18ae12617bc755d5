// SPDX-License-Identifier: Apache-2.0
// A step of every rule of d5's over the parameters of ResNet-50 (25.6 million in 161 tensors),
// beside LibTorch's torch::optim::Adam and the fused kernel at::_fused_adam_, interleaved in one
// process.
//
//     bench_torch_optimizers [options of Google Benchmark] [THREADS]
//
// Counters: a step's seconds; torch::optim::Adam's and the fused kernel's seconds over them (above
// 1: the rule is faster); the bytes of gradient, parameter and memory that a step reads and writes
// once each, a second, also as a share of what plain sums over the arrays of Adam reach.
#include <ATen/Parallel.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>
#include <torch/optim/adam.h>

#include "d5/core/framework.hpp"
#include "d5/core/measure.hpp"
#include "d5/core/random.hpp"
#include "d5/core/threads.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "tests/level2_training/scripted_executor.hpp"

namespace {

/// Those of ResNet-50's weights, scales, shifts and biases.
std::vector<d5::Shape> shapes() {
  std::vector<d5::Shape> result;
  const auto convolution = [&](std::int64_t to, std::int64_t from, std::int64_t size) {
    result.insert(result.end(), {{to, from, size, size}, {to}, {to}});
  };
  convolution(64, 3, 7);
  std::int64_t from = 64;
  for (const auto& [width, blocks] : {std::pair{64, 3}, {128, 4}, {256, 6}, {512, 3}}) {
    for (int block = 0; block < blocks; ++block) {
      convolution(width, from, 1);
      convolution(width, width, 3);
      convolution(4 * width, width, 1);
      if (block == 0) convolution(4 * width, from, 1);
      from = 4 * width;
    }
  }
  result.insert(result.end(), {{1000, 2048}, {1000}});
  return result;
}

using Named = std::vector<std::pair<std::string, d5::Tensor>>;
Named tensors(std::uint64_t seed) {
  Named result;
  d5::RandomStream random(seed);
  for (const d5::Shape& shape : shapes()) {
    d5::Tensor& tensor = result
                             .emplace_back("w" + std::to_string(result.size()),
                                           d5::Tensor::empty(d5::DType::float32, shape))
                             .second;
    for (float& value : tensor.span<float>()) value = random.uniform() - 0.5f;
  }
  return result;
}

at::Tensor view(const d5::Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  return at::from_blob(const_cast<void*>(tensor.raw()), {dims.data(), dims.size()}, at::kFloat);
}
std::vector<at::Tensor> copies(const Named& tensors) {
  std::vector<at::Tensor> result;
  for (const auto& [name, tensor] : tensors) result.push_back(view(tensor).clone());
  return result;
}

d5::Subject torch_optim_adam() {
  auto parameters = copies(tensors(1));
  const auto gradients = copies(tensors(2));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].requires_grad_(true).mutable_grad() = gradients[i];
  }
  const auto adam = std::make_shared<torch::optim::Adam>(parameters);
  return {.run = [adam] { adam->step(); }};
}

d5::Subject fused_adam() {
  struct State {
    std::vector<at::Tensor> w = copies(tensors(1)), g = copies(tensors(2)), m, v, steps;
    double step = 0;
  };
  const auto state = std::make_shared<State>();
  for (const at::Tensor& w : state->w) {
    state->m.push_back(at::zeros_like(w));
    state->v.push_back(at::zeros_like(w));
    state->steps.push_back(at::scalar_tensor(0, at::kFloat));
  }
  return {.run = [state] {
    const c10::InferenceMode without_autograd;
    state->step += 1;
    for (at::Tensor& step : state->steps) step.fill_(state->step);
    at::_fused_adam_(state->w, state->g, state->m, state->v, {}, state->steps, 1e-3, 0.9, 0.999, 0,
                     1e-8, /*amsgrad=*/false, /*maximize=*/false);
  }};
}

constexpr std::int64_t kParameters = 25'557'032;

/// What the arrays of Adam take: g is read; w, m and v are read and written.
d5::Subject plain_sums() {
  const auto arrays = std::make_shared<std::vector<std::vector<float>>>(
      4, std::vector<float>(std::size_t(kParameters), 1e-3f));
  return {.run =
              [arrays] {
                const float* g = (*arrays)[0].data();
                float *w = (*arrays)[1].data(), *m = (*arrays)[2].data(), *v = (*arrays)[3].data();
                d5::parallel_for(kParameters, 1 << 16, [=](std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
                  for (std::int64_t i = begin; i < end; ++i) {
                    m[i] += g[i];
                    v[i] += g[i];
                    w[i] += g[i];
                  }
                });
              },
          .work = {.bytes = 7.0 * 4 * kParameters}};
}

d5::Subject rule(const std::string& name, const d5::Settings& settings) {
  const auto gradients = std::make_shared<Named>(tensors(2));
  auto executor = std::make_unique<d5::test::ScriptedExecutor>(
      tensors(1), [first = true, gradients](d5::Network& network, std::int64_t) mutable {
        if (!std::exchange(first, false)) return 0.0;
        for (const auto& [name, gradient] : *gradients) {
          network.parameter(name).gradient.copy_from(gradient);
        }
        return 0.0;
      });
  const auto optimizer = d5::find_optimizer(name).make(std::move(executor), "loss", settings);
  double remembered = 0;
  for (const auto& [key, value] : optimizer->state()) remembered += double(value.tensor().bytes());
  return {.run = [optimizer] { (void)optimizer->step({}); },
          .work = {.bytes = 3.0 * 4 * kParameters + 2 * remembered}};
}

void run(benchmark::State& state, const std::string& name, const d5::Settings& settings,
         int samples) {
  std::vector<d5::Subject> subjects{torch_optim_adam(), fused_adam(), plain_sums(),
                                    rule(name, settings)};
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    subjects[i].record.subject = std::to_string(i);
  }
  std::vector<d5::Measurement> records;
  for (auto _ : state) records = d5::measure(subjects, {"time"}, {.samples = samples, .warmup = 2});
  std::vector<double> seconds;
  for (const auto& record : records) {
    if (record.metric == "time") seconds.push_back(d5::estimate(record).value);
  }
  const double bandwidth = subjects[2].work.bytes / seconds.at(2);
  state.counters["seconds"] = seconds.at(3);
  state.counters["over_torch_optim_adam"] = seconds.at(0) / seconds.at(3);
  state.counters["over_fused_adam"] = seconds.at(1) / seconds.at(3);
  state.counters["bytes_per_second"] = subjects[3].work.bytes / seconds.at(3);
  state.counters["of_bandwidth"] = subjects[3].work.bytes / seconds.at(3) / bandwidth;
}

void add(const std::string& name, const d5::Settings& settings = {}) {
  const int samples = name == "adam" ? 30 : 10;
  benchmark::RegisterBenchmark(
      (name + "/resnet50").c_str(),
      [=](benchmark::State& state) { run(state, name, settings, samples); })
      ->Iterations(1)
      ->Unit(benchmark::kSecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string version = d5::framework("torch").version();  // before threads are told
  d5::set_threads(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
  benchmark::AddCustomContext("libtorch", version);
  for (const std::string& name : d5::optimizers().names()) {
    // Eigenvectors now and then, and of short sides: otherwise they are all that a step does.
    if (name == "shampoo") {
      add(name, {{"every", 100}, {"largest_side", 256}});
    } else {
      add(name);
    }
  }
  add("torch/adam");
  benchmark::RunSpecifiedBenchmarks();
}
