// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "d5/core/tensor/shape.hpp"

namespace d5::detail {

/// Position of an operand's matrices for each matrix of Y.
struct Stack {
  struct Dim {
    std::int64_t size, stride;  ///< size in Y's stack; stride in elements, 0 if broadcast
  };
  std::vector<Dim> dims;

  [[nodiscard]] std::int64_t offset(std::int64_t i) const {
    std::int64_t result = 0;
    for (std::size_t d = dims.size(); d-- > 0; i /= dims[d].size) {
      result += i % dims[d].size * dims[d].stride;
    }
    return result;
  }
};

/// y[i] = a[i] b[i] for each matrix of Y's stack; a is m x k, b is k x n.
struct MatMulProblem {
  std::int64_t m = 1, n = 1, k = 1, matrices = 1;
  Stack a, b;
  Shape y;

  [[nodiscard]] double flop() const {
    return 2.0 * double(matrices) * double(m) * double(n) * double(k);
  }
};

/// The problem of NumPy's matmul: a vector is a row on the left, a column on the right, and its
/// dimension is missing in Y. Throws: ShapeError.
[[nodiscard]] MatMulProblem matmul_problem(const Shape& a, const Shape& b, std::string_view who);

}  // namespace d5::detail
