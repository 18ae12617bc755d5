// SPDX-License-Identifier: Apache-2.0
// Compares a network in d5 with the same network written in LibTorch, interleaved in one process:
// one library, one thread count, one allocator. The counters of NAME/ratio are d5's time over
// LibTorch's.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <c10/core/InferenceMode.h>

#include <cstdlib>
#include <map>
#include <stdexcept>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/level1_network.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5::benchmarks {

inline constexpr double kRate = 0.01;

inline at::Tensor view(const Tensor& tensor, at::ScalarType type = at::kFloat) {
  const auto dims = tensor.shape().dims();
  return at::from_blob(const_cast<void*>(tensor.raw()), {dims.data(), dims.size()}, type);
}

/// A network as a LibTorch user writes it; weights have d5's names and values.
class HandWritten {
 public:
  explicit HandWritten(Network network) {
    for (auto& parameter : network.parameters()) {
      weights_[parameter.name] = view(parameter.value).clone().requires_grad_(true);
    }
    for (const auto& [name, value] : network.graph().initializers) {
      if (network.is_parameter(name) || value.dtype() != DType::float32) continue;
      weights_[name] = view(value).clone();  // running statistics
    }
  }
  virtual ~HandWritten() = default;

  void infer(const at::Tensor& images) {
    const c10::InferenceMode inference;
    last_ = scores(images, false);
  }
  /// Forward, backward and a step of plain gradient descent.
  void train(const at::Tensor& images, const at::Tensor& labels) {
    last_ = at::cross_entropy_loss(scores(images, true), labels);
    last_.backward();
    const at::NoGradGuard no_grad;
    for (auto& [name, weight] : weights_) {
      if (!weight.requires_grad()) continue;
      weight.add_(weight.grad(), -kRate);
      weight.mutable_grad().reset();
    }
  }
  [[nodiscard]] const at::Tensor& last() const { return last_; }

 protected:
  [[nodiscard]] virtual at::Tensor scores(at::Tensor x, bool training) = 0;
  at::Tensor& weight(const std::string& name) { return weights_.at(name); }
  at::Tensor linear(const std::string& name, const at::Tensor& x) {
    return at::linear(x, weight(name + ".weight"), weight(name + ".bias"));
  }

 private:
  std::map<std::string, at::Tensor> weights_;
  at::Tensor last_;
};

/// A built-in image classifier.
struct Model {
  std::string name;
  std::int64_t channels, size, classes;

  [[nodiscard]] Network make(bool training) const {
    return models().at(name).make({{"seed", 1}, {"with_loss", training}, {"training", training}});
  }
};

/// One batch, for d5 and for LibTorch; both share the memory.
struct Data {
  Data(const Model& model, std::int64_t batch)
      : image(Tensor::empty(DType::float32, {batch, model.channels, model.size, model.size})),
        label(Tensor::empty(DType::int64, {batch})) {
    RandomStream random(1);
    for (float& value : image.span<float>()) value = random.normal();
    for (auto& value : label.span<std::int64_t>()) {
      value = std::int64_t(random.below(std::uint64_t(model.classes)));
    }
    images = view(image);
    labels = view(label, at::kLong);
    inputs = {{"image", image}};
    samples = {.values = {{"image", image}, {"label", label}}, .size = batch};
  }
  Tensor image, label;
  at::Tensor images, labels;
  ValueMap inputs;
  Batch samples;
};

inline std::shared_ptr<GraphExecutor> plan(Network network, std::vector<std::string> frameworks = {
                                                                "torch", "reference"}) {
  return make_executor(std::move(network), {.frameworks = std::move(frameworks)});
}
inline std::shared_ptr<GraphExecutor> own(Network network) {
  return framework("torch").part<ExecutorRegistry>().at("torch").make(std::move(network), {});
}

inline Subject inference(const std::shared_ptr<Data>& data,
                         std::shared_ptr<GraphExecutor> executor) {
  return {.run = [data, executor] { (void)executor->inference(data->inputs); }};
}
inline Subject training_step(const std::shared_ptr<Data>& data,
                             std::shared_ptr<Optimizer> optimizer) {
  return {.run = [data, optimizer] { (void)optimizer->step(data->samples); }};
}

/// Throws: std::logic_error unless both compute the same.
inline void expect_same(const Model& model, HandWritten& hand, const Data& data) {
  hand.infer(data.images);
  const auto executor = plan(model.make(false));
  const Value& scores = executor->inference(data.inputs).begin()->second;
  // Sums of some thousand products in another order, through tens of layers.
  if (at::allclose(view(scores.tensor()), hand.last(), 1e-3, 1e-3)) return;
  throw std::logic_error(model.name + " by hand is another network than d5's");
}

/// Compares `Net`, a HandWritten, with d5's plan, torch's own executor, the plan that prefers
/// oneDNN's kernels, and the choice of "auto".
template <class Net>
void add(const Model& model, std::int64_t batch, const MeasureOptions& pairs) {
  const auto data = std::make_shared<Data>(model, batch);
  const Settings rate("optimizer sgd", {{"learning_rate", std::to_string(kRate)}});
  const std::string size = "/batch:" + std::to_string(batch);
  const std::vector<std::string> mixed = {"onednn", "torch", "reference"};
  const auto step_of = [=](const std::vector<std::string>& frameworks) {
    return training_step(
        data, optimizers().at("sgd").make(plan(model.make(true), frameworks), "loss", rate));
  };
  add("inference" + size,
      {{"by_hand",
        [=] {
          const auto hand = std::make_shared<Net>(model.make(false));
          expect_same(model, *hand, *data);
          return Subject{.run = [=] { hand->infer(data->images); }};
        }},
       {"plan", [=] { return inference(data, plan(model.make(false))); }},
       {"onednn+torch", [=] { return inference(data, plan(model.make(false), mixed)); }},
       {"auto", [=] { return inference(data, plan(model.make(false), {"auto"})); }},
       {"own", [=] { return inference(data, own(model.make(false))); }}},
      pairs);
  add("training_step" + size,
      {{"by_hand",
        [=] {
          const auto hand = std::make_shared<Net>(model.make(true));
          return Subject{.run = [=] { hand->train(data->images, data->labels); }};
        }},
       {"plan_and_sgd", [=] { return step_of({"torch", "reference"}); }},
       {"onednn+torch_and_sgd", [=] { return step_of(mixed); }},
       {"auto_and_sgd", [=] { return step_of({"auto"}); }},
       {"own_and_torch_sgd",
        [=] {
          const auto& native = framework("torch").part<NativeOptimizers>().at("sgd");
          return training_step(data, native.make(own(model.make(true)), "loss", rate));
        }}},
      pairs);
}

/// A whole program: bench_torch_NAME [options of Google Benchmark] [THREADS]
template <class Net>
int main_of(int argc, char** argv, const Model& model, std::initializer_list<std::int64_t> batches,
            const MeasureOptions& pairs) {
  // Some machines export these variables, which halve OpenBLAS's speed.
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  benchmark::Initialize(&argc, argv);
  const std::string version = framework("torch").version();  // loads it before threads are set
  set_threads(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
  benchmark::AddCustomContext("libtorch", version);
  for (const std::int64_t batch : batches) add<Net>(model, batch, pairs);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace d5::benchmarks
