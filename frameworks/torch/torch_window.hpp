// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/constant_pad_nd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "d5/level0_ops/operator/infer_context.hpp"
#include "d5/level0_ops/operator/window.hpp"

namespace d5::torch {

/// A window in torch's form: a list of numbers for each of the last `rank` spatial dimensions.
struct TorchWindow {
  std::vector<std::int64_t> kernel, strides, dilations, begin, end;
  std::vector<std::int64_t> zeros;    ///< the padding of an input that `pad` padded
  std::vector<std::int64_t> amounts;  ///< amounts for `pad`: torch has the last dimension first
  bool symmetric = true;              ///< begin is end: torch's convolution pads by itself
  bool dilated = false;
  bool ceil_mode = false;  ///< a last, partial window counts
  bool pools = true;       ///< torch's pooling pads by itself: equally, at most half a kernel
  bool aside = false;      ///< a window covers padding alone

  TorchWindow(const Window& window, std::size_t rank) {
    for (std::size_t i = window.axes.size() - rank; i < window.axes.size(); ++i) {
      const WindowAxis& axis = window.axes[i];
      const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
      const std::int64_t read = (axis.output - 1) * axis.stride + extent;
      const std::int64_t whole = axis.input + axis.pad_begin + axis.pad_end;
      kernel.push_back(axis.kernel);
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation);
      begin.push_back(axis.pad_begin);
      end.push_back(axis.pad_end);
      // Includes elements that the last window reads beyond the padding.
      amounts.insert(amounts.begin(),
                     {axis.pad_begin, axis.pad_end + std::max<std::int64_t>(read - whole, 0)});
      symmetric = symmetric && axis.pad_begin == axis.pad_end;
      dilated = dilated || axis.dilation != 1;
      ceil_mode = ceil_mode || read > whole;
      aside = aside || axis.pad_begin >= extent || axis.at(axis.output - 1, 0) >= axis.input;
      pools = pools && axis.pad_begin == axis.pad_end && axis.pad_begin <= axis.kernel / 2;
    }
    zeros.assign(rank, 0);
  }

  /// Window of a pooling operator's view, over at least two dimensions, as torch's functions
  /// require.
  template <class View>
  static TorchWindow of_pooling(const View& view, const InferContext& context) {
    const auto attributes = WindowAttributes::of(view);
    const Window window = attributes.resolve(context.shape(0), attributes.kernel(), context.who());
    return {window, std::max<std::size_t>(window.rank, 2)};
  }

  /// `x` with explicit padding.
  [[nodiscard]] at::Tensor pad(const at::Tensor& x, const at::Scalar& value) const {
    return at::constant_pad_nd(x, amounts, value);
  }
};

/// Represents one spatial dimension as the second of two, as `of_pooling` does.
inline at::Tensor lifted(const at::Tensor& x) { return x.dim() == 3 ? x.unsqueeze(2) : x; }

}  // namespace d5::torch
