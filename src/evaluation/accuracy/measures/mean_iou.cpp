// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/accuracy/accuracy_record.hpp"
#include "evaluation/accuracy/judged_tensor.hpp"

namespace d5::accuracy_measure {
namespace {

struct MeanIouOptions {
  std::int64_t ignore = 255;
  void declare(OptionList& options) {
    options.add("ignore", ignore, "class whose pixels are not judged");
  }
};

/// Mean intersection over union: for each class, the pixels that both masks assign to it, divided
/// by the pixels that either does, over all samples together; then the mean over the classes that
/// occur. A sample's score is the same mean over its own pixels.
class MeanIou final : public AccuracyMeasure {
 public:
  using Options = MeanIouOptions;
  explicit MeanIou(const Options& options) : options_(options) {}

  double judge(const ValueMap& answer, const ValueMap& right) override {
    const auto given = detail::judged_numbers("mask", answer, "mean_iou", "the answer");
    const auto truth = detail::judged_numbers("mask", right, "mean_iou", "the data set");
    if (given.size() != truth.size()) {
      throw ShapeError(
          fmt::format("accuracy mean_iou: the answer's mask has {} pixels, the right "
                      "one {}",
                      given.size(), truth.size()));
    }
    Counts counts;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (truth[i] == double(options_.ignore)) continue;
      if (given[i] == truth[i]) {
        ++counts[truth[i]].both;
        ++counts[truth[i]].either;
      } else {
        ++counts[truth[i]].either;
        ++counts[given[i]].either;
      }
    }
    samples_.push_back(std::move(counts));
    const std::size_t last = samples_.size() - 1;
    return mean({&last, 1});
  }
  [[nodiscard]] Compared compares() const override { return {"mask", "mask"}; }
  void miss(const ValueMap& right) override {
    Counts counts;
    if (right.contains("mask")) {
      for (const double c : detail::judged_numbers("mask", right, "mean_iou", "the data set")) {
        if (c != double(options_.ignore)) ++counts[c].either;
      }
    }
    samples_.push_back(std::move(counts));
  }
  [[nodiscard]] Measurement record() const override {
    return detail::accuracy_record("mean_iou", samples_.size(),
                                   [&](std::span<const std::size_t> some) { return mean(some); });
  }

 private:
  struct Count {
    double both = 0, either = 0;
  };
  using Counts = std::map<double, Count>;

  [[nodiscard]] double mean(std::span<const std::size_t> some) const {
    Counts all;
    for (const std::size_t s : some) {
      for (const auto& [c, count] : samples_[s]) {
        all[c].both += count.both;
        all[c].either += count.either;
      }
    }
    double sum = 0;
    for (const auto& [c, count] : all) sum += count.both / count.either;
    return all.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / double(all.size());
  }

  Options options_;
  std::vector<Counts> samples_;
};

}  // namespace

void register_mean_iou(Registry<AccuracyMeasureEntry>& registry) {
  registry.add("mean_iou", AccuracyMeasureEntry::of<MeanIou>(
                               "mean intersection over union (mIoU) of segmentation masks"));
}

}  // namespace d5::accuracy_measure
