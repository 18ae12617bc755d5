// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/shape.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// A sliding window along one spatial dimension: output position o covers the input positions `o *
/// stride - pad_begin + k * dilation` for k in [0, kernel).
struct WindowAxis {
  std::int64_t input = 1, kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0,
               output = 1;

  /// The input position under tap `k`, which may lie in the padding.
  [[nodiscard]] std::int64_t at(std::int64_t o, std::int64_t k) const {
    return o * stride - pad_begin + k * dilation;
  }
  [[nodiscard]] bool inside(std::int64_t i) const { return i >= 0 && i < input; }
  /// The taps inside the input at output position `o`: [begin, end).
  struct Taps {
    std::int64_t begin, end;
  };
  [[nodiscard]] Taps taps(std::int64_t o) const {
    const std::int64_t first = at(o, 0);
    return {first >= 0 ? 0 : (-first + dilation - 1) / dilation,
            first >= input ? 0 : std::min(kernel, (input - 1 - first) / dilation + 1)};
  }
};

/// A window over up to three spatial dimensions; missing leading ones have size 1.
struct Window {
  std::array<WindowAxis, 3> axes;
  std::size_t rank = 0;  ///< spatial dimensions of the tensor

  [[nodiscard]] std::int64_t input_size() const;
  [[nodiscard]] std::int64_t kernel_size() const;
  [[nodiscard]] std::int64_t output_size() const;
  /// `batch` x `channels` x the output's spatial sizes.
  /// Throws: ShapeError if the number of elements overflows.
  [[nodiscard]] Shape output_shape(std::int64_t batch, std::int64_t channels) const;

  /// Calls `f(o, z, y, x)` for every output position; `o` is its row-major index.
  template <class F>
  void for_each_output(F&& f) const {
    std::int64_t o = 0;
    for (std::int64_t z = 0; z < axes[0].output; ++z) {
      for (std::int64_t y = 0; y < axes[1].output; ++y) {
        for (std::int64_t x = 0; x < axes[2].output; ++x) f(o++, z, y, x);
      }
    }
  }
  /// Calls `f(i)` for every input position under the window at output (z, y, x), except padding;
  /// `i` is its row-major index.
  template <class F>
  void for_each_tap(std::int64_t z, std::int64_t y, std::int64_t x, F&& f) const {
    const auto [z_begin, z_end] = axes[0].taps(z);
    const auto [y_begin, y_end] = axes[1].taps(y);
    const auto [x_begin, x_end] = axes[2].taps(x);
    for (std::int64_t kz = z_begin; kz < z_end; ++kz) {
      for (std::int64_t ky = y_begin; ky < y_end; ++ky) {
        const std::int64_t line =
            (axes[0].at(z, kz) * axes[1].input + axes[1].at(y, ky)) * axes[2].input;
        for (std::int64_t kx = x_begin; kx < x_end; ++kx) f(line + axes[2].at(x, kx));
      }
    }
  }
};

/// Attributes shared by convolutions, pooling operators and Col2Im.
class WindowAttributes {
 public:
  /// The node's attributes; empty if absent.
  struct Given {
    std::vector<std::int64_t> kernel_shape, strides, dilations, pads;
    std::string auto_pad = "NOTSET";
    bool ceil_mode = false;                                  // pooling
    std::vector<std::int64_t> output_padding, output_shape;  // ConvTranspose
  };
  /// Throws: ValueError for sizes outside their range, Unsupported above three dimensions.
  WindowAttributes(const onnx::Node& node, Given given);
  /// Reads the attributes from a typed view that has some of them.
  template <class View>
  static WindowAttributes of(const View& view) {
    Given given;
    if constexpr (requires { view.kernel_shape().value(); }) {
      given.kernel_shape = view.kernel_shape().value_or(std::vector<std::int64_t>{});
    } else if constexpr (requires { view.kernel_shape(); }) {
      given.kernel_shape = view.kernel_shape();
    }
    given.strides = view.strides().value_or(std::vector<std::int64_t>{});
    given.pads = view.pads().value_or(std::vector<std::int64_t>{});
    if constexpr (requires { view.auto_pad(); }) given.auto_pad = view.auto_pad();
    if constexpr (requires { view.dilations(); }) {
      given.dilations = view.dilations().value_or(std::vector<std::int64_t>{});
    }
    if constexpr (requires { view.ceil_mode(); }) given.ceil_mode = view.ceil_mode() != 0;
    if constexpr (requires { view.output_padding(); }) {
      given.output_padding = view.output_padding().value_or(std::vector<std::int64_t>{});
      given.output_shape = view.output_shape().value_or(std::vector<std::int64_t>{});
    }
    return WindowAttributes(view.node(), std::move(given));
  }

  [[nodiscard]] const std::vector<std::int64_t>& kernel() const { return given_.kernel_shape; }

  /// The window over the spatial dimensions of `input` (N x C x spatial). `kernel` is used if the
  /// attribute is absent.
  /// Throws: ShapeError if ranks differ or the window is larger than the padded input.
  [[nodiscard]] Window resolve(const Shape& input, const std::vector<std::int64_t>& kernel,
                               std::string_view who) const;
  /// The window of a transposed convolution of `input`. It slides over the convolution's output,
  /// the window's input, and has one position per element of `input`. Throws: as `resolve`.
  [[nodiscard]] Window resolve_transposed(const Shape& input,
                                          const std::vector<std::int64_t>& kernel,
                                          std::string_view who) const;
  /// The window that covers all of `input`, for global pooling.
  [[nodiscard]] static Window whole(const Shape& input, std::string_view who);

 private:
  enum class Padding { explicitly, valid, same_upper, same_lower };
  /// Kernel, strides and dilations, with checked lengths of all attributes.
  [[nodiscard]] Window unpadded(const Shape& input, const std::vector<std::int64_t>& kernel,
                                std::string_view who) const;
  [[nodiscard]] bool pads_to_same() const {
    return padding_ == Padding::same_upper || padding_ == Padding::same_lower;
  }
  /// Distributes `total` to both sides as SAME_UPPER or SAME_LOWER.
  void share_padding(std::int64_t total, WindowAxis& axis) const;

  Given given_;
  Padding padding_ = Padding::explicitly;
};

}  // namespace d5
