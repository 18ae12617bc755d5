// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level0_ops/operator/window.hpp"
#include "graph.hpp"

namespace d5::tensorflow {

/// A window in TensorFlow's form: over two or three spatial dimensions of N,spatial,C. One
/// dimension is represented as the second of two.
class SpatialWindow {
 public:
  explicit SpatialWindow(const Window& window);

  [[nodiscard]] bool is_flat() const { return rank_ == 2; }
  [[nodiscard]] const Sizes& kernel() const { return kernel_; }
  [[nodiscard]] const Sizes& strides() const { return strides_; }
  [[nodiscard]] const Sizes& dilations() const { return dilations_; }
  [[nodiscard]] bool is_dilated() const;
  /// Whether the padding at an end is as wide as the window, so that a window may contain only
  /// padding.
  [[nodiscard]] bool may_miss_the_input() const;
  /// Throws: Unsupported.
  void expect_no_dilation(const std::string& who) const;
  /// Extends numbers of spatial dimensions by 1 for samples and channels.
  [[nodiscard]] static Sizes with_channels(Sizes spatial);

  /// Converts x N,C,spatial to N,spatial,C with at least two dimensions, and back.
  [[nodiscard]] Term lifted(Graph& graph, Term x) const;
  [[nodiscard]] Term lowered(Graph& graph, Term y) const;
  /// Explicitly padded, including the area that the last windows cover beyond the padding.
  [[nodiscard]] Term padded(Graph& graph, Term lifted, double value) const;
  [[nodiscard]] const Sizes& padded_sizes() const { return padded_; }  ///< spatial
  /// The inverse: the elements of `padded` that come from the input.
  [[nodiscard]] Term unpadded(Graph& graph, Term padded) const;

  /// For each output, the size of the window divided by the number of its elements that count:
  /// those of the input, and optionally of its padding, but none beyond. Undefined if all are 1.
  /// Shapes: 1 x outputs x 1.
  [[nodiscard]] Tensor shares(bool counts_padding) const;

 private:
  [[nodiscard]] const WindowAxis& axis(std::size_t i) const { return window_.axes[3 - rank_ + i]; }

  Window window_;
  std::size_t rank_;
  Sizes kernel_, strides_, dilations_;
  Sizes before_, after_, padded_;
};

}  // namespace d5::tensorflow
