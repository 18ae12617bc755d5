// SPDX-License-Identifier: Apache-2.0
// Functions of two tensors with broadcasting, and their gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "torch_kernel.hpp"

namespace d5::torch {

/// Sums a gradient in the result's shape over the dimensions in which an operand was broadcast.
class Summed {
 public:
  Summed(const Shape& operand, const Shape& result);
  [[nodiscard]] bool trivial() const { return dims_.empty(); }
  void write(at::Tensor& dx, const at::Tensor& full) const;

 private:
  Sizes kept_;  ///< the operand's sizes, 1 where it lacks a dimension
  Sizes dims_;
};

/// One per input; none if no gradient is needed.
[[nodiscard]] std::vector<Summed> sums_of(const PlanContext& context);

/// A binary function in torch, with treatments of types that torch lacks.
struct BinaryFunction {
  enum class Gradient { autograd, sum, difference, product };
  /// Treatment of unsigned integers of more than 8 bits, for which torch has hardly any arithmetic:
  /// natively; up to 32 bits as int64 and 64 bits not at all; as int64 with the same bits; or as
  /// int64 in the same order.
  enum class Unsigned { native, narrow, bits, order };

  at::Tensor (*call)(const at::Tensor& a, const at::Tensor& b);
  at::Tensor& (*write)(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) = nullptr;
  Gradient gradient = Gradient::autograd;
  Unsigned large = Unsigned::native;

  /// Whether `call` and `write` accept the type directly.
  [[nodiscard]] bool takes(at::ScalarType type) const;
  [[nodiscard]] at::Tensor operator()(const at::Tensor& a, const at::Tensor& b) const;
};

/// One function for `call` and `write`: torch's second overloads take a Scalar.
#define D5_TORCH_BINARY(function)                                                  \
  [](const at::Tensor& a, const at::Tensor& b) { return at::function(a, b); },     \
      [](at::Tensor& y, const at::Tensor& a, const at::Tensor& b) -> at::Tensor& { \
        return at::function##_out(y, a, b);                                        \
      }

}  // namespace d5::torch
