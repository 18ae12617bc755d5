// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/accuracy/accuracy_record.hpp"
#include "evaluation/accuracy/judged_tensor.hpp"
#include "evaluation/pipeline/box_overlap.hpp"

namespace d5::accuracy_measure {
namespace {

using detail::CornerBox;

struct AveragePrecisionOptions {
  double iou = 0.5;
  void declare(OptionList& options) {
    options.add("iou", iou, "minimum intersection over union of a box that matches a true one",
                {.above = 0, .most = 1});
  }
};

/// Mean over all classes of the area below the precision-recall curve (mAP).
///
/// The boxes of an answer are matched in order of descending score. Each matches the true box that
/// it overlaps most, if the overlap suffices and the true box is not matched yet. Precision is made
/// monotonically decreasing before the area is summed.
/// Source: Everingham et al., "The PASCAL Visual Object Classes Challenge: A Retrospective" (2015).
class AveragePrecision final : public AccuracyMeasure {
 public:
  using Options = AveragePrecisionOptions;
  explicit AveragePrecision(const Options& options) : options_(options) {}

  double judge(const ValueMap& answer, const ValueMap& right) override {
    Sample sample;
    sample.right = boxes_of(right, "the data set");
    sample.given = boxes_of(answer, "the answer");
    const auto scores = detail::judged_numbers("scores", answer, "average_precision", "the answer");
    if (scores.size() != sample.given.size()) {
      throw ShapeError(fmt::format("accuracy average_precision: {} scores of {} boxes",
                                   scores.size(), sample.given.size()));
    }
    for (std::size_t i = 0; i < scores.size(); ++i) sample.given[i].score = scores[i];
    match(sample);
    samples_.push_back(std::move(sample));
    const std::size_t last = samples_.size() - 1;
    return mean({&last, 1});
  }
  [[nodiscard]] Compared compares() const override { return {"boxes", "boxes"}; }
  void miss(const ValueMap& right) override {
    Sample sample;
    if (right.contains("boxes")) sample.right = boxes_of(right, "the data set");
    samples_.push_back(std::move(sample));
  }
  [[nodiscard]] Measurement record() const override {
    Measurement record =
        detail::accuracy_record("average_precision", samples_.size(),
                                [&](std::span<const std::size_t> some) { return mean(some); });
    record.conditions["iou"] = identity(options_.iou);
    return record;
  }

 private:
  struct Box {
    CornerBox corners;
    double label = 0, score = 0;
    bool finds = false;  ///< a right box, before any other
  };
  struct Sample {
    std::vector<Box> right, given;
  };

  static std::vector<Box> boxes_of(const ValueMap& values, const std::string& who) {
    const std::string name = "average_precision";
    const auto corners = detail::judged_numbers("boxes", values, name, who);
    std::vector<double> labels(corners.size() / 4);
    const char* word = values.contains("classes") ? "classes" : "label";
    if (values.contains(word)) labels = detail::judged_numbers(word, values, name, who);
    if (corners.size() % 4 != 0 || labels.size() != corners.size() / 4) {
      throw ShapeError(
          fmt::format("accuracy average_precision: {} has {} numbers of boxes and {} "
                      "classes, expected four and one for each",
                      who, corners.size(), labels.size()));
    }
    std::vector<Box> boxes;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const double* c = corners.data() + 4 * i;
      boxes.push_back({.corners = {c[0], c[1], c[2], c[3]}, .label = labels[i]});
    }
    return boxes;
  }

  void match(Sample& sample) const {
    std::ranges::stable_sort(sample.given, std::greater<>(), &Box::score);
    std::vector<bool> found(sample.right.size());
    for (Box& box : sample.given) {
      double best = 0;
      std::size_t at = 0;
      for (std::size_t r = 0; r < sample.right.size(); ++r) {
        if (sample.right[r].label != box.label) continue;
        const double overlap =
            detail::intersection_over_union(box.corners, sample.right[r].corners);
        if (overlap > best) best = overlap, at = r;
      }
      if (best >= options_.iou && !found[at]) found[at] = box.finds = true;
    }
  }

  [[nodiscard]] double mean(std::span<const std::size_t> some) const {
    std::set<double> labels;
    for (const std::size_t s : some) {
      for (const Box& box : samples_[s].right) labels.insert(box.label);
    }
    double sum = 0;
    for (const double label : labels) sum += average_precision(some, label);
    return labels.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / double(labels.size());
  }

  [[nodiscard]] double average_precision(std::span<const std::size_t> some, double label) const {
    std::vector<const Box*> given;
    double there = 0;
    for (const std::size_t s : some) {
      for (const Box& box : samples_[s].given) {
        if (box.label == label) given.push_back(&box);
      }
      there += double(std::ranges::count(samples_[s].right, label, &Box::label));
    }
    std::ranges::stable_sort(given, std::greater<>(), [](const Box* box) { return box->score; });
    std::vector<double> precision;
    double hits = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
      hits += given[i]->finds ? 1 : 0;
      precision.push_back(hits / double(i + 1));
    }
    double area = 0, envelope = 0;
    for (std::size_t i = given.size(); i-- > 0;) {
      envelope = std::max(envelope, precision[i]);
      if (given[i]->finds) area += envelope / there;
    }
    return area;
  }

  Options options_;
  std::vector<Sample> samples_;
};

}  // namespace

void register_average_precision(Registry<AccuracyMeasureEntry>& registry) {
  registry.add("average_precision", AccuracyMeasureEntry::of<AveragePrecision>(
                                        "mean average precision (mAP) of boxes, as in PASCAL VOC"));
}

}  // namespace d5::accuracy_measure
