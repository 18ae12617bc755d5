// SPDX-License-Identifier: Apache-2.0
// LeNet through d5 beside the same network written by hand in LibTorch, interleaved in one process:
// one library, one thread count, one allocator. The counters of NAME/ratio are d5's time over the
// hand-written one's.
//
//     bench_torch_lenet [options of Google Benchmark] [THREADS]
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <c10/core/InferenceMode.h>

#include <cstdlib>
#include <map>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/random.hpp"
#include "d5/core/threads.hpp"
#include "d5/level1_network/level1_network.hpp"
#include "d5/level2_training/optimizer.hpp"

namespace {

using d5::DType;
using d5::Tensor;

constexpr double kRate = 0.01;
const d5::MeasureOptions kPairs{.samples = 200, .warmup = 10};

/// What a LibTorch user writes.
class HandWritten {
 public:
  explicit HandWritten(d5::Network& network) {
    for (auto& parameter : network.parameters()) {
      const auto dims = parameter.value.shape().dims();
      const at::Tensor values = at::from_blob(parameter.value.raw(), {dims.data(), dims.size()});
      weights_[parameter.name] = values.clone().requires_grad_(true);
    }
  }

  at::Tensor scores(at::Tensor x) {
    x = at::max_pool2d(at::relu(conv("conv1", x, 2)), {2, 2}, {2, 2});
    x = at::max_pool2d(at::relu(conv("conv2", x, 0)), {2, 2}, {2, 2});
    x = x.flatten(1);
    x = at::relu(linear("fc1", x));
    x = at::relu(linear("fc2", x));
    return linear("fc3", x);
  }

  void infer(const at::Tensor& images) {
    const c10::InferenceMode inference;
    last_ = scores(images);
  }

  /// Forward, backward and a step of plain gradient descent.
  void train(const at::Tensor& images, const at::Tensor& labels) {
    last_ = at::cross_entropy_loss(scores(images), labels);
    last_.backward();
    const at::NoGradGuard no_grad;
    for (auto& [name, weight] : weights_) {
      weight.add_(weight.grad(), -kRate);
      weight.mutable_grad().reset();
    }
  }

  const at::Tensor& last() const { return last_; }

 private:
  at::Tensor conv(const std::string& name, const at::Tensor& x, std::int64_t pad) {
    return at::conv2d(x, weights_[name + ".weight"], weights_[name + ".bias"], 1, pad);
  }
  at::Tensor linear(const std::string& name, const at::Tensor& x) {
    return at::linear(x, weights_[name + ".weight"], weights_[name + ".bias"]);
  }
  std::map<std::string, at::Tensor> weights_;
  at::Tensor last_;
};

d5::Network lenet(bool with_loss) {
  return d5::models().at("lenet").make({{"seed", 1}, {"with_loss", with_loss}});
}

/// One batch, as d5 and as LibTorch see it; both share the memory.
struct Data {
  explicit Data(std::int64_t batch)
      : image(Tensor::empty(DType::float32, {batch, 1, 28, 28})),
        label(Tensor::empty(DType::int64, {batch})) {
    d5::RandomStream random(1);
    for (float& value : image.span<float>()) value = random.normal();
    for (auto& value : label.span<std::int64_t>()) value = std::int64_t(random.below(10));
    images = at::from_blob(image.raw(), {batch, 1, 28, 28});
    labels = at::from_blob(label.raw(), {batch}, at::kLong);
    inputs = {{"image", image}};
    samples = {.values = {{"image", image}, {"label", label}}, .size = batch};
  }
  Tensor image, label;
  at::Tensor images, labels;
  d5::ValueMap inputs;
  d5::Batch samples;
};

std::shared_ptr<d5::GraphExecutor> plan(bool with_loss) {
  return d5::make_executor(lenet(with_loss), {.frameworks = {"torch", "reference"}});
}
std::shared_ptr<d5::GraphExecutor> own(bool with_loss) {
  return d5::framework("torch").part<d5::ExecutorRegistry>().at("torch").make(lenet(with_loss), {});
}

d5::Subject inference(const std::shared_ptr<Data>& data,
                      std::shared_ptr<d5::GraphExecutor> executor) {
  return {.run = [data, executor] { (void)executor->inference(data->inputs); }};
}
d5::Subject training_step(const std::shared_ptr<Data>& data,
                          std::shared_ptr<d5::Optimizer> optimizer) {
  return {.run = [data, optimizer] { (void)optimizer->step(data->samples); }};
}

void add(std::int64_t batch) {
  const auto data = std::make_shared<Data>(batch);
  const d5::Settings rate("optimizer sgd", {{"learning_rate", std::to_string(kRate)}});
  const std::string size = "/batch:" + std::to_string(batch);
  d5::benchmarks::add("inference" + size,
                      {{"by_hand",
                        [data] {
                          auto network = lenet(false);
                          const auto hand = std::make_shared<HandWritten>(network);
                          return d5::Subject{.run = [=] { hand->infer(data->images); }};
                        }},
                       {"plan", [data] { return inference(data, plan(false)); }},
                       {"own", [data] { return inference(data, own(false)); }}},
                      kPairs);
  d5::benchmarks::add(
      "training_step" + size,
      {{"by_hand",
        [data] {
          auto network = lenet(true);
          const auto hand = std::make_shared<HandWritten>(network);
          return d5::Subject{.run = [=] { hand->train(data->images, data->labels); }};
        }},
       {"plan_and_sgd",
        [=] {
          return training_step(data, d5::optimizers().at("sgd").make(plan(true), "loss", rate));
        }},
       {"own_and_torch_sgd",
        [=] {
          const auto& native = d5::framework("torch").part<d5::NativeOptimizers>().at("sgd");
          return training_step(data, native.make(own(true), "loss", rate));
        }}},
      kPairs);
}

}  // namespace

int main(int argc, char** argv) {
  // Some machines export these; they halve OpenBLAS.
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  benchmark::Initialize(&argc, argv);
  d5::set_threads(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
  benchmark::AddCustomContext("libtorch", d5::framework("torch").version());
  for (const std::int64_t batch : {1, 64}) add(batch);
  benchmark::RunSpecifiedBenchmarks();
}
