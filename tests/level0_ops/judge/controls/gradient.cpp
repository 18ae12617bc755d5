// SPDX-License-Identifier: Apache-2.0
// A product with its gradients, as a class.
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
  /// dA = dY B^T, dB = A^T dY
  void backward(const d5::abi::Call& call) {
    const auto a = call.input<float>(0), b = call.input<float>(1), dy = call.grad_output<float>(0);
    const auto da = call.grad_input<float>(0), db = call.grad_input<float>(1);
    const std::int64_t m = a.dim(0), k = a.dim(1), n = b.dim(1);
    for (std::int64_t e = 0; e < m * k; ++e) da[e] = 0;
    for (std::int64_t e = 0; e < k * n; ++e) db[e] = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t l = 0; l < k; ++l) {
        for (std::int64_t j = 0; j < n; ++j) {
          da[i * k + l] += dy[i * n + j] * b[l * n + j];
          db[l * n + j] += a[i * k + l] * dy[i * n + j];
        }
      }
    }
  }
};
D5_OPERATOR(Product)
