// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: selects the boxes with the highest scores that do not overlap a selected one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

using NonMaxSuppressionView = onnx::nodes::NonMaxSuppression;

enum class BoxFormat { corners, center };

struct Box {
  float x_min, y_min, x_max, y_max;

  Box(const float* box, BoxFormat format) {
    if (format == BoxFormat::corners) {  // any two opposite corners, y before x
      std::tie(y_min, y_max) = std::minmax(box[0], box[2]);
      std::tie(x_min, x_max) = std::minmax(box[1], box[3]);
    } else {
      x_min = box[0] - box[2] / 2, x_max = box[0] + box[2] / 2;
      y_min = box[1] - box[3] / 2, y_max = box[1] + box[3] / 2;
    }
  }

  [[nodiscard]] float area() const { return (x_max - x_min) * (y_max - y_min); }

  /// Whether the intersection over union exceeds `threshold`; a box without area has no
  /// intersection.
  [[nodiscard]] bool overlaps(const Box& other, float threshold) const {
    const float width = std::min(x_max, other.x_max) - std::max(x_min, other.x_min);
    const float height = std::min(y_max, other.y_max) - std::max(y_min, other.y_min);
    if (!(width > 0 && height > 0 && area() > 0 && other.area() > 0)) return false;
    const float common = width * height;
    return common / (area() + other.area() - common) > threshold;
  }
};

/// Numbers of samples, classes and boxes; a class has a score for each box of its sample.
struct Counts {
  std::int64_t batch, classes, boxes;
};

class NonMaxSuppressionKernel final : public Kernel {
 public:
  NonMaxSuppressionKernel(const Counts& counts, BoxFormat format, PlanContext& context)
      : counts_(counts), format_(format) {
    context.request_scratch(sizeof(std::int64_t) *
                            std::size_t(counts.batch * counts.classes * (counts.boxes + 1)));
  }

  void forward(OpContext& context) override {
    const auto [batch, classes, boxes] = counts_;
    const std::int64_t most =
        number<std::int64_t>(context, NonMaxSuppressionView::In::max_output_boxes_per_class, 0);
    const float overlap = number<float>(context, NonMaxSuppressionView::In::iou_threshold, 0);
    // Without a threshold every box is a candidate.
    const bool all = !context.has_input(NonMaxSuppressionView::In::score_threshold);
    const float least = number<float>(context, NonMaxSuppressionView::In::score_threshold, 0);
    const float* scores = context.input(NonMaxSuppressionView::In::scores).data<float>();
    const float* all_boxes = context.input(NonMaxSuppressionView::In::boxes).data<float>();
    std::int64_t* chosen = context.scratch_as<std::int64_t>();  // class after class
    std::int64_t* counts = chosen + batch * classes * boxes;
    parallel_for(batch * classes, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        const float* score = scores + c * boxes;
        std::int64_t* candidates = chosen + c * boxes;
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < boxes; ++i) {
          if (all || score[i] > least) candidates[count++] = i;
        }
        counts[c] =
            choose(all_boxes + c / classes * boxes * 4, score, candidates, count, most, overlap);
      }
    });
    const std::int64_t total = std::accumulate(counts, counts + batch * classes, std::int64_t{0});
    std::int64_t* to = context.allocate(0, {DType::int64, {total, 3}}).data<std::int64_t>();
    for (std::int64_t c = 0; c < batch * classes; ++c) {
      for (std::int64_t k = 0; k < counts[c]; ++k) {
        *to++ = c / classes;
        *to++ = c % classes;
        *to++ = chosen[c * boxes + k];
      }
    }
  }

 private:
  /// Moves the selected ones of `count` candidates to the front, and returns their number.
  std::int64_t choose(const float* boxes, const float* score, std::int64_t* candidates,
                      std::int64_t count, std::int64_t most, float overlap) const {
    const auto rank = [=](std::int64_t i) {  // NaN is last
      return std::isnan(score[i]) ? -std::numeric_limits<float>::infinity() : score[i];
    };
    std::sort(candidates, candidates + count, [&](std::int64_t a, std::int64_t b) {
      return rank(a) != rank(b) ? rank(a) > rank(b) : a < b;
    });
    std::int64_t chosen = 0;
    for (std::int64_t k = 0; k < count && chosen < most; ++k) {
      const Box box(boxes + 4 * candidates[k], format_);
      const bool hidden = std::any_of(candidates, candidates + chosen, [&](std::int64_t other) {
        return box.overlaps(Box(boxes + 4 * other, format_), overlap);
      });
      if (!hidden) candidates[chosen++] = candidates[k];
    }
    return chosen;
  }

  template <class T>
  static T number(const OpContext& context, std::size_t input, T fallback) {
    return context.has_input(input) ? *context.input(input).data<T>() : fallback;
  }

  Counts counts_;
  BoxFormat format_;
};

/// Shapes: boxes are batch x boxes x 4, scores batch x classes x boxes; each row of the output is a
/// sample, a class and a box.
class NonMaxSuppression final : public Operator {
 public:
  explicit NonMaxSuppression(const NonMaxSuppressionView& view) {
    const std::int64_t format = view.center_point_box();
    if (format != 0 && format != 1) {
      throw ValueError(fmt::format("{}: center_point_box is {}, expected 0 or 1",
                                   onnx::describe(view.node()), format));
    }
    if (format == 1) format_ = BoxFormat::center;
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape &boxes = context.shape(NonMaxSuppressionView::In::boxes),
                &scores = context.shape(NonMaxSuppressionView::In::scores);
    if (boxes.rank() != 3 || boxes[2] != 4 || scores.rank() != 3 || scores[0] != boxes[0] ||
        scores[2] != boxes[1]) {
      throw ShapeError(
          fmt::format("{}: boxes are {} and scores are {}, expected batch x boxes x 4 and batch x "
                      "classes x boxes",
                      context.who(), to_string(boxes), to_string(scores)));
    }
    for (std::size_t i = NonMaxSuppressionView::In::max_output_boxes_per_class;
         i < context.input_count(); ++i) {
      if (!context.has_input(i) || context.input(i).elements() == 1) continue;
      throw ShapeError(fmt::format("{}: input {} is {}, expected one number", context.who(), i,
                                   to_string(context.shape(i))));
    }
    return {TensorDesc{DType::int64, {kUnknownDim, 3}}};
  }

  /// The work depends on the data: at least one pass over the scores.
  Cost cost(const InferContext& context) const override {
    return with_flop(context, double(context.input(NonMaxSuppressionView::In::scores).elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& scores = context.shape(NonMaxSuppressionView::In::scores);
    return std::make_unique<NonMaxSuppressionKernel>(Counts{scores[0], scores[1], scores[2]},
                                                     format_, context);
  }

 private:
  BoxFormat format_ = BoxFormat::corners;
};

}  // namespace

void register_non_max_suppression(OperatorRegistry& registry) {
  registry.add<NonMaxSuppression, NonMaxSuppressionView>();
}

}  // namespace d5::ops
