// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "evaluation/pipeline/box_overlap.hpp"
#include "evaluation/pipeline/score_row.hpp"

namespace d5::answer_step {
namespace {

struct BoxesOptions {
  std::string boxes = "boxes", scores = "scores";
  enum class Form { corners, centre } form = Form::corners;
  double threshold = 0.5, overlap = 0.5;
  std::int64_t most = 100;

  void declare(OptionList& options) {
    options.add("boxes", boxes, "name of the boxes, N x 4");
    options.add("scores", scores, "name of their scores, N or N x classes");
    options.add("form", form, "left, top, right, bottom; or centre x, y, width, height",
                {"corners", "centre"});
    options.add("threshold", threshold, "minimum score of a box");
    options.add(
        "overlap", overlap,
        "intersection over union above which the lower-scoring of two boxes of a class is dropped",
        {.least = 0, .most = 1});
    options.add("most", most, "maximum number of boxes", {.least = 1});
  }
};

/// Greedy non-maximum suppression per class. Results in descending order of score: `boxes` float32
/// Mx4 by their corners, `scores` float32 M and `classes` int64 M.
class BoxesStep final : public AnswerStep {
 public:
  using Options = BoxesOptions;
  explicit BoxesStep(const Options& options) : options_(options) {}

  void run(ValueMap& values) const override {
    const auto found = candidates(values);
    std::vector<Candidate> kept;
    for (const Candidate& one : found) {
      if (std::int64_t(kept.size()) == options_.most) break;
      const bool covered = std::ranges::any_of(kept, [&](const Candidate& better) {
        return better.label == one.label &&
               detail::intersection_over_union(better.box, one.box) > options_.overlap;
      });
      if (!covered) kept.push_back(one);
    }
    const auto count = static_cast<std::int64_t>(kept.size());
    std::vector<float> corners, scores;
    std::vector<std::int64_t> labels;
    for (const auto& [box, score, label] : kept) {
      for (const double c : {box.left, box.top, box.right, box.bottom}) corners.push_back(float(c));
      scores.push_back(float(score));
      labels.push_back(label);
    }
    values["boxes"] = Tensor::of<float>({count, 4}, std::span<const float>(corners));
    values["scores"] = Tensor::vector(scores);
    values["classes"] = Tensor::vector(labels);
  }

 private:
  struct Candidate {
    detail::CornerBox box;
    double score = 0;
    std::int64_t label = 0;
  };

  /// All boxes of all classes above the threshold, in descending order of score.
  [[nodiscard]] std::vector<Candidate> candidates(const ValueMap& values) const {
    const auto corners = detail::score_row(value_for(values, options_.boxes, "boxes"), "boxes");
    const auto scores = detail::score_row(value_for(values, options_.scores, "boxes"), "boxes");
    const std::size_t count = corners.size() / 4;
    if (corners.size() % 4 != 0 || (count == 0) != scores.empty() ||
        (count > 0 && scores.size() % count != 0)) {
      throw ShapeError(
          fmt::format("answer step boxes: {} numbers of boxes and {} scores, expected "
                      "four and one a class for each box",
                      corners.size(), scores.size()));
    }
    const std::size_t classes = count > 0 ? scores.size() / count : 0;
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < classes; ++c) {
        const double score = scores[i * classes + c];
        if (!(score >= options_.threshold)) continue;  // NaN is no score
        found.push_back({box_at(corners.data() + 4 * i), score, std::int64_t(c)});
      }
    }
    std::ranges::stable_sort(found, std::greater<>(), &Candidate::score);
    return found;
  }
  [[nodiscard]] detail::CornerBox box_at(const double* n) const {
    if (options_.form == Options::Form::corners) return {n[0], n[1], n[2], n[3]};
    return {n[0] - n[2] / 2, n[1] - n[3] / 2, n[0] + n[2] / 2, n[1] + n[3] / 2};
  }

  Options options_;
};

}  // namespace

void register_boxes(Registry<AnswerStepEntry>& registry) {
  registry.add("boxes", AnswerStepEntry::of<BoxesStep>(
                            "non-maximum suppression: the best of overlapping boxes"));
}

}  // namespace d5::answer_step
