// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace d5::torch {

/// A resized dimension. `length` is the output's size before truncation to an integer.
struct ResizedAxis {
  std::int64_t dim, input, output;
  double scale, length;
};

/// One of torch's functions to resize the last dimensions of a tensor, and its derivative.
class Upsampling {
 public:
  enum class Kind {
    nearest,
    nearest_exact,
    linear,
    cubic,
    antialiased_linear,
    antialiased_cubic,
  };
  /// Alignment of the first and last element in interpolating `Kind`s.
  enum class Ends { halves, corners };

  /// For a tensor of size `x` with resized `axes`; empty if torch does not support that number of
  /// dimensions.
  static std::optional<Upsampling> of(Kind kind, Ends ends, at::IntArrayRef x,
                                      std::span<const ResizedAxis> axes);

  /// Differentiable where autograd records.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  /// Writes the gradient of x, which has dense memory.
  void backward(at::Tensor& dx, const at::Tensor& dy) const;

 private:
  struct Function;
  template <std::size_t... d>
  struct Over;
  Upsampling() = default;
  static std::span<const Function, 3> functions_of(Kind kind);

  const Function* function_ = nullptr;
  bool corners_ = false;
  // Shape that torch sees: 1, all dimensions before the first axis, and the resized ones.
  std::vector<std::int64_t> input_, output_;
  std::vector<std::int64_t> to_, shape_;       // the last of output_; the result's
  std::vector<std::optional<double>> scales_;  // as many as in `to_`
};

}  // namespace d5::torch
