// SPDX-License-Identifier: Apache-2.0
// ResNet-18 in d5, compared with LibTorch (by_hand.hpp).
//
//     bench_torch_resnet [options of Google Benchmark] [THREADS]
//     bench_torch_resnet --benchmark_filter=training_step/batch:16/ratio 2
#include "frameworks/torch/benchmarks/by_hand.hpp"

namespace {

class ResNet18 final : public d5::benchmarks::HandWritten {
 public:
  using HandWritten::HandWritten;

 private:
  at::Tensor scores(at::Tensor x, bool training) override {
    training_ = training;
    x = at::max_pool2d(at::relu(conv_norm("stem", x, 2, 3)), {3, 3}, {2, 2}, {1, 1});
    for (int stage = 1; stage <= 4; ++stage) {
      for (int i = 1; i <= 2; ++i) {
        x = block("stage" + std::to_string(stage) + ".block" + std::to_string(i), x,
                  stage > 1 && i == 1 ? 2 : 1);
      }
    }
    return linear("fc", x.mean({2, 3}));
  }
  at::Tensor block(const std::string& name, const at::Tensor& x, std::int64_t stride) {
    const at::Tensor skip = stride == 1 ? x : conv_norm(name + ".shortcut", x, stride, 0);
    at::Tensor y = at::relu(conv_norm(name + ".conv1", x, stride, 1));
    y = conv_norm(name + ".conv2", y, 1, 1);
    return at::relu(y.add_(skip));
  }
  at::Tensor conv_norm(const std::string& name, const at::Tensor& x, std::int64_t stride,
                       std::int64_t pad) {
    const at::Tensor y = at::conv2d(x, weight(name + ".weight"), {}, stride, pad);
    const auto of_norm = [&](const char* what) { return weight(name + ".norm." + what); };
    constexpr double kMomentum = 0.1, kEpsilon = 1e-5;
    return at::batch_norm(y, of_norm("scale"), of_norm("shift"), of_norm("mean"),
                          of_norm("variance"), training_, kMomentum, kEpsilon, false);
  }
  bool training_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  return d5::benchmarks::main_of<ResNet18>(
      argc, argv, {.name = "resnet-18", .channels = 3, .size = 224, .classes = 1000}, {1, 16},
      {.samples = 30, .warmup = 1, .most_seconds = 400});
}
