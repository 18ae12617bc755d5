// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "evaluation/pipeline/score_row.hpp"

namespace d5::answer_step {
namespace {

struct YoloBoxesOptions {
  std::string of;
  enum class Layout { columns, rows } layout = Layout::columns;
  bool objectness = false;
  std::int64_t classes = 0, grid = 0;

  void declare(OptionList& options) {
    options.add("of", of, "name of the predictions; empty: the only value");
    options.add("layout", layout, "a prediction is a column (YOLOv8), or a row (YOLOv5, YOLOX)",
                {"columns", "rows"});
    options.add("objectness", objectness,
                "the fifth value of a prediction multiplies the scores of its classes");
    options.add("classes", classes,
                "number of classes; values behind their scores are left out; 0: all are scores",
                {.least = 0});
    options.add("grid", grid,
                "side in pixels of a square image in whose cells of 8, 16 and 32 pixels the "
                "boxes lie, their sizes as logarithms (YOLOX); 0: they are in pixels",
                {.least = 0, .most = 65536});
  }
};

/// Boxes of a YOLO network, all of them, as input of 'boxes': `boxes` float32 N x 4 by their
/// corners in pixels of the network's input, and `scores` float32 N x classes. They replace the
/// predictions, each of which is centre x, y, width, height, and scores.
///
/// Source: Ge et al., "YOLOX: Exceeding YOLO Series in 2021", and Ultralytics' export of YOLOv8.
class YoloBoxes final : public AnswerStep {
 public:
  using Options = YoloBoxesOptions;
  explicit YoloBoxes(const Options& options) : options_(options) {}

  void run(ValueMap& values) const override {
    const Predictions all = predictions_of(value_for(values, options_.of, "yolo_boxes"));
    const std::vector<Cell> cells = options_.grid > 0 ? cells_of(all.count) : std::vector<Cell>();
    std::vector<float> corners, scores;
    for (std::int64_t i = 0; i < all.count; ++i) {
      double x = all.at(i, 0), y = all.at(i, 1), width = all.at(i, 2), height = all.at(i, 3);
      if (!cells.empty()) {
        const Cell& cell = cells[std::size_t(i)];
        x = (x + cell.column) * cell.stride, y = (y + cell.row) * cell.stride;
        width = std::exp(width) * cell.stride, height = std::exp(height) * cell.stride;
      }
      for (const double c : {x - width / 2, y - height / 2, x + width / 2, y + height / 2}) {
        corners.push_back(float(c));
      }
      const double sure = options_.objectness ? all.at(i, 4) : 1;
      for (std::int64_t c = 0; c < all.classes; ++c) {
        scores.push_back(float(sure * all.at(i, first_score() + c)));
      }
    }
    values.erase(options_.of.empty() ? values.begin()->first : options_.of);
    values["boxes"] = Tensor::of<float>({all.count, 4}, std::span<const float>(corners));
    values["scores"] = Tensor::of<float>({all.count, all.classes}, std::span<const float>(scores));
  }

 private:
  struct Predictions {
    std::vector<double> values;
    std::int64_t count = 0, step = 0, next = 0, classes = 0;
    [[nodiscard]] double at(std::int64_t prediction, std::int64_t value) const {
      return values[std::size_t(prediction * step + value * next)];
    }
  };
  struct Cell {
    double column = 0, row = 0, stride = 0;
  };

  [[nodiscard]] std::int64_t first_score() const { return options_.objectness ? 5 : 4; }

  [[nodiscard]] Predictions predictions_of(const Tensor& tensor) const {
    const bool is_rows = options_.layout == Options::Layout::rows;
    const auto dims = tensor.shape().dims();
    const std::int64_t least = first_score() + std::max<std::int64_t>(1, options_.classes);
    if (dims.size() != 2 || dims[is_rows ? 1 : 0] < least) {
      throw ShapeError(fmt::format(
          "answer step yolo_boxes: gets {}, expected {}: a box{} and {} score{}; see its layout",
          to_string(tensor.desc()),
          is_rows ? fmt::format("N x {} or more", least) : fmt::format("{} or more x N", least),
          options_.objectness ? ", an objectness" : "", std::max<std::int64_t>(1, options_.classes),
          options_.classes > 1 ? "s" : ""));
    }
    const std::int64_t count = dims[is_rows ? 0 : 1], length = dims[is_rows ? 1 : 0];
    return {.values = detail::score_row(tensor, "yolo_boxes"),
            .count = count,
            .step = is_rows ? length : 1,
            .next = is_rows ? 1 : count,
            .classes = options_.classes > 0 ? options_.classes : length - first_score()};
  }

  /// The cells of the three grids, finest first, row by row.
  [[nodiscard]] std::vector<Cell> cells_of(std::int64_t count) const {
    std::vector<Cell> cells;
    for (const std::int64_t stride : {8, 16, 32}) {
      const std::int64_t side = options_.grid / stride;
      for (std::int64_t i = 0; i < side * side; ++i) {
        cells.push_back({double(i % side), double(i / side), double(stride)});
      }
    }
    if (std::int64_t(cells.size()) != count) {
      throw ShapeError(fmt::format(
          "answer step yolo_boxes: there are {} predictions, expected {}, one a cell of an image "
          "of {} x {} pixels",
          count, cells.size(), options_.grid, options_.grid));
    }
    return cells;
  }

  Options options_;
};

}  // namespace

void register_yolo_boxes(Registry<AnswerStepEntry>& registry) {
  registry.add("yolo_boxes",
               AnswerStepEntry::of<YoloBoxes>("boxes and scores of a YOLO network's predictions"));
}

}  // namespace d5::answer_step
