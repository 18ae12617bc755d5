// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "d5/level0_ops/operator/infer_context.hpp"
#include "level0_ops/kernels/sampling/resampling.hpp"

namespace d5::detail {

/// What decides the sizes of Resize's and Upsample's output.
class ResizeSizes {
 public:
  enum class AspectRatio { stretch, not_larger, not_smaller };
  /// The inputs by place, where there are such, and the attributes.
  struct Given {
    std::optional<std::size_t> scales = {}, sizes = {};
    std::optional<std::vector<float>> scale_attribute = {};
    std::optional<std::vector<std::int64_t>> axes = {};
    AspectRatio aspect_ratio = AspectRatio::stretch;
    float least_scale = 0;  ///< 0: any above
  };
  explicit ResizeSizes(Given given) : given_(std::move(given)) {}

  /// The dimensions of X that scales and sizes speak of, in their order.
  /// Throws: ValueError for axes that X does not have, or given twice.
  [[nodiscard]] std::vector<std::size_t> places(const InferContext& context) const;
  /// One a dimension; nothing where only running tells the sizes. Throws: ShapeError, ValueError.
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
