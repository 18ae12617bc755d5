// SPDX-License-Identifier: Apache-2.0
// Computes the product, and of its gradients the first alone.
#include "d5/abi.hpp"

struct Product {
  static constexpr const char* kName = "MatMul";
  static constexpr const char* kDomain = "judged";

  std::vector<d5::abi::Desc> infer(const d5::abi::Inputs& inputs) const {
    return {d5::abi::desc_of<float>({inputs.dims<float>(0)[0], inputs.dims<float>(1)[1]})};
  }
  void forward(const d5::abi::Call& call) {
    const auto a = call.input<float>(0), b = call.input<float>(1);
    const auto y = call.output<float>(0);
    for (std::int64_t i = 0; i < y.dim(0); ++i) {
      for (std::int64_t j = 0; j < y.dim(1); ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < a.dim(1); ++l) {
          sum += a[i * a.dim(1) + l] * b[l * b.dim(1) + j];
        }
        y[i * y.dim(1) + j] = sum;
      }
    }
  }
  void backward(const d5::abi::Call& call) {
    const auto a = call.input<float>(0), b = call.input<float>(1), dy = call.grad_output<float>(0);
    const auto da = call.grad_input<float>(0);
    for (std::int64_t i = 0; i < a.dim(0); ++i) {
      for (std::int64_t l = 0; l < a.dim(1); ++l) {
        float sum = 0;
        for (std::int64_t j = 0; j < b.dim(1); ++j) {
          sum += dy[i * b.dim(1) + j] * b[l * b.dim(1) + j];
        }
        da[i * a.dim(1) + l] = sum;
      }
    }
  }
};
D5_OPERATOR(Product)
