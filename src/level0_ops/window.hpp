// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/shape.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// Where a window stands along one spatial dimension: output position o covers the input positions
/// `o * stride - pad_begin + k * dilation` for k in [0, kernel).
struct WindowAxis {
  std::int64_t input = 1, kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0,
               output = 1;

  /// The input position under tap `k`, which may lie in the padding.
  [[nodiscard]] std::int64_t at(std::int64_t o, std::int64_t k) const {
    return o * stride - pad_begin + k * dilation;
  }
  [[nodiscard]] bool inside(std::int64_t i) const { return i >= 0 && i < input; }
};

/// A window over up to three spatial dimensions; missing leading ones have size 1.
struct Window {
  std::array<WindowAxis, 3> axes;
  std::size_t rank = 0;  ///< spatial dimensions of the tensor

  [[nodiscard]] std::int64_t input_size() const;
  [[nodiscard]] std::int64_t kernel_size() const;
  [[nodiscard]] std::int64_t output_size() const;
  /// `batch` x `channels` x the output's spatial sizes.
  [[nodiscard]] Shape output_shape(std::int64_t batch, std::int64_t channels) const;
};

/// The attributes that Conv and the pooling operators share.
class WindowAttributes {
 public:
  /// Throws: ValueError for sizes outside their range, Unsupported above three dimensions.
  explicit WindowAttributes(const onnx::Node& node);

  [[nodiscard]] const std::vector<std::int64_t>& kernel() const { return kernel_; }

  /// The window over the spatial dimensions of `input` (N x C x spatial). `kernel` replaces the
  /// attribute where that was not given.
  /// Throws: ShapeError if ranks differ or the window is larger than the padded input.
  [[nodiscard]] Window resolve(const Shape& input, const std::vector<std::int64_t>& kernel,
                               std::string_view who) const;

 private:
  enum class Padding { explicitly, valid, same_upper, same_lower };
  std::vector<std::int64_t> kernel_, strides_, dilations_, pads_;
  Padding padding_ = Padding::explicitly;
  bool ceil_ = false;
};

}  // namespace d5
