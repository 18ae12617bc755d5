// SPDX-License-Identifier: Apache-2.0
// LeNet in d5, compared with LibTorch (by_hand.hpp).
//
//     bench_torch_lenet [options of Google Benchmark] [THREADS]
#include "frameworks/torch/benchmarks/by_hand.hpp"

namespace {

class LeNet final : public d5::benchmarks::HandWritten {
 public:
  using HandWritten::HandWritten;

 private:
  at::Tensor scores(at::Tensor x, bool) override {
    x = at::max_pool2d(at::relu(conv("conv1", x, 2)), {2, 2}, {2, 2});
    x = at::max_pool2d(at::relu(conv("conv2", x, 0)), {2, 2}, {2, 2});
    x = x.flatten(1);
    x = at::relu(linear("fc1", x));
    x = at::relu(linear("fc2", x));
    return linear("fc3", x);
  }
  at::Tensor conv(const std::string& name, const at::Tensor& x, std::int64_t pad) {
    return at::conv2d(x, weight(name + ".weight"), weight(name + ".bias"), 1, pad);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return d5::benchmarks::main_of<LeNet>(argc, argv,
                                        {.name = "lenet", .channels = 1, .size = 28, .classes = 10},
                                        {1, 64}, {.samples = 200, .warmup = 10});
}
