// SPDX-License-Identifier: Apache-2.0
// LeNet through d5 beside the same network written by hand in LibTorch, interleaved in one process:
// one library, one thread count, one allocator. Prints the ratio of times, d5 over hand-written.
//
//     bench_torch_lenet [THREADS]
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <c10/core/InferenceMode.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "d5/core/framework.hpp"
#include "d5/core/measurement.hpp"
#include "d5/core/random.hpp"
#include "d5/core/threads.hpp"
#include "d5/level1_network/level1_network.hpp"
#include "d5/level2_training/optimizer.hpp"

namespace {

using d5::DType;
using d5::Tensor;

constexpr double kRate = 0.01;

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

void compare(const char* what, std::int64_t batch, const std::function<void()>& d5_run,
             const std::function<void()>& by_hand) {
  const auto times = d5::measure_interleaved({{"d5", d5_run}, {"by hand", by_hand}},
                                             {.samples = 200, .warmup = 10});
  const auto result = d5::compare(times[0].samples, times[1].samples);
  std::printf("%-44s batch %2d: ratio %.4f [%.4f, %.4f], by hand %.1f us%s%s\n", what, int(batch),
              result.ratio, result.ratio_interval.low, result.ratio_interval.high,
              1e6 * d5::summarise(times[1].samples).median, times[0].reason.empty() ? "" : "; ",
              times[0].reason.c_str());
}

d5::Network lenet(bool with_loss) {
  return d5::models().at("lenet").make({{"seed", 1}, {"with_loss", with_loss}});
}

void run(std::int64_t batch) {
  auto& torch = d5::framework("torch");
  Tensor image = Tensor::empty(DType::float32, {batch, 1, 28, 28});
  Tensor label = Tensor::empty(DType::int64, {batch});
  d5::RandomStream random(1);
  for (float& value : image.span<float>()) value = random.normal();
  for (auto& value : label.span<std::int64_t>()) value = std::int64_t(random.below(10));
  const at::Tensor images = at::from_blob(image.raw(), {batch, 1, 28, 28});
  const at::Tensor labels = at::from_blob(label.raw(), {batch}, at::kLong);
  const d5::ValueMap inputs{{"image", image}};
  const d5::Batch samples{.values = {{"image", image}, {"label", label}}, .size = batch};
  const d5::Settings rate("optimizer sgd", {{"learning_rate", std::to_string(kRate)}});

  const auto plan = [](bool with_loss) {
    return d5::make_executor(lenet(with_loss), {.frameworks = {"torch", "reference"}});
  };
  const auto own = [&](bool with_loss) {
    return torch.part<d5::ExecutorRegistry>().at("torch").make(lenet(with_loss), {});
  };
  const auto planned = plan(false), whole = own(false);
  HandWritten by_hand(planned->network());
  const auto infer = [&] { by_hand.infer(images); };
  compare(
      "inference, plan of torch's operators", batch, [&] { planned->inference(inputs); }, infer);
  compare("inference, torch's own executor", batch, [&] { whole->inference(inputs); }, infer);

  const auto& native = torch.part<d5::NativeOptimizers>().at("sgd");
  const auto planned_step = d5::optimizers().at("sgd").make(plan(true), "loss", rate);
  const auto whole_step = native.make(own(true), "loss", rate);
  const auto train = [&] { by_hand.train(images, labels); };
  compare("training step, plan and d5's sgd", batch, [&] { planned_step->step(samples); }, train);
  compare(
      "training step, own executor and torch's sgd", batch, [&] { whole_step->step(samples); },
      train);
}

}  // namespace

int main(int argc, char** argv) {
  // Some machines export these; they halve OpenBLAS.
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  d5::set_threads(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
  std::printf("%d threads, LibTorch %s\n", at::get_num_threads(),
              d5::framework("torch").version().c_str());
  for (const std::int64_t batch : {1, 64}) run(batch);
}
