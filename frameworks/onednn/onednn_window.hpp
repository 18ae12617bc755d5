// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/window.hpp"
#include "memory_desc.hpp"

namespace d5::onednn {

/// A window in oneDNN's form: a number for each spatial dimension.
struct OneDnnWindow {
  Dims kernel, strides, dilations;  ///< a dilation of 0 is a dense window
  Dims begin;                       ///< padding before
  Dims end;  ///< and as much behind as the last window reads; below 0: it does not read all
  bool reaches_past = false;  ///< a last, partial window reads behind the padding
  bool misses = false;        ///< a window lies on padding alone

  /// One window over all of `x`, which is N,C,spatial.
  explicit OneDnnWindow(const Shape& x)
      : kernel(x.begin() + 2, x.end()),
        strides(kernel.size(), 1),
        dilations(kernel.size(), 0),
        begin(dilations),
        end(dilations) {}
  /// Window of a convolution of `x` with `w`, whose first two dimensions are channels.
  template <class View>
  static OneDnnWindow of_convolution(const View& view, const Shape& x, const Shape& w) {
    const auto kernel = w.dims().subspan(2);
    return OneDnnWindow(WindowAttributes::of(view).resolve(x, {kernel.begin(), kernel.end()},
                                                           onnx::describe(view.node())));
  }
  explicit OneDnnWindow(const Window& window) {
    for (std::size_t i = window.axes.size() - window.rank; i < window.axes.size(); ++i) {
      const WindowAxis& axis = window.axes[i];
      const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
      kernel.push_back(axis.kernel);
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation - 1);
      begin.push_back(axis.pad_begin);
      end.push_back((axis.output - 1) * axis.stride + extent - axis.input - axis.pad_begin);
      reaches_past = reaches_past || end.back() > axis.pad_end;
      for (std::int64_t o = 0; o < axis.output; ++o) {
        const auto [first, last] = axis.taps(o);
        misses = misses || first >= last;
      }
    }
  }
};

/// Weights M,C/group,kernel as group,M/group,C/group,kernel; oneDNN omits a single group.
[[nodiscard]] inline Desc grouped(const TensorDesc& weights, std::int64_t group) {
  Dims dims = dims_of(weights.shape);
  if (group != 1) {
    dims[0] /= group;
    dims.insert(dims.begin(), group);
  }
  return rows(dims, data_type(weights.dtype));
}

}  // namespace d5::onednn
