// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "d5/level0_ops/operator/infer_context.hpp"
#include "level0_ops/kernels/sampling/resampling.hpp"

namespace d5::detail {

/// Output sizes of Resize and Upsample.
class ResizeSizes {
 public:
  enum class AspectRatio { stretch, not_larger, not_smaller };
  /// The indices of optional inputs, and the attributes.
  struct Given {
    std::optional<std::size_t> scales = {}, sizes = {};
    std::optional<std::vector<float>> scale_attribute = {};
    std::optional<std::vector<std::int64_t>> axes = {};
    AspectRatio aspect_ratio = AspectRatio::stretch;
    float least_scale = 0;  ///< 0: any positive scale
  };
  explicit ResizeSizes(Given given) : given_(std::move(given)) {}

  /// The dimensions of X to which scales and sizes apply, in order. Throws: ValueError for invalid
  /// or repeated axes.
  [[nodiscard]] std::vector<std::size_t> places(const InferContext& context) const;
  /// One per dimension; nothing if the sizes are known only at run time. Throws: ShapeError,
  /// ValueError.
  [[nodiscard]] std::optional<std::vector<ResampledAxis>> resolve(
      const InferContext& context) const;

 private:
  using Axes = std::vector<ResampledAxis>;
  [[nodiscard]] std::optional<std::vector<float>> scales(const InferContext& context) const;
  void take_scales(const std::vector<float>& scales, const InferContext& context, Axes& axes) const;
  void take_sizes(const std::vector<std::int64_t>& sizes, const InferContext& context,
                  Axes& axes) const;

  Given given_;
};

}  // namespace d5::detail
