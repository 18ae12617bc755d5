// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/accuracy/accuracy_record.hpp"
#include "evaluation/accuracy/judged_tensor.hpp"

namespace d5::accuracy_measure {
namespace {

/// F1 of decisions by frame, `active`: 2 TP / (2 TP + FP + FN), all samples together. A number
/// other than 0 is active. A sample's score is the same over its own frames; 1 where nothing is
/// active and nothing should be.
///
/// Source: van Rijsbergen, "Information Retrieval" (1979), chapter 7.
class FrameF1 final : public AccuracyMeasure {
 public:
  double judge(const ValueMap& answer, const ValueMap& right) override {
    const auto given = detail::judged_numbers("active", answer, "frame_f1", "the answer");
    const auto truth = detail::judged_numbers("active", right, "frame_f1", "the data set");
    if (given.size() != truth.size()) {
      throw ShapeError(fmt::format(
          "accuracy frame_f1: the answer has {} frames, the data set {}; do their hops agree?",
          given.size(), truth.size()));
    }
    Counts counts;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (given[i] != 0 && truth[i] != 0) ++counts.both;
      if ((given[i] != 0) != (truth[i] != 0)) ++counts.one;
    }
    samples_.push_back(counts);
    if (counts.both + counts.one == 0) return 1;
    const std::size_t last = samples_.size() - 1;
    return f1({&last, 1});
  }
  [[nodiscard]] Compared compares() const override { return {"active", "active"}; }
  void miss(const ValueMap& right) override {
    Counts counts;
    if (right.contains("active")) {
      for (const double frame :
           detail::judged_numbers("active", right, "frame_f1", "the data set")) {
        if (frame != 0) ++counts.one;
      }
    }
    samples_.push_back(counts);
  }
  [[nodiscard]] Measurement record() const override {
    return detail::accuracy_record("frame_f1", samples_.size(),
                                   [&](std::span<const std::size_t> some) { return f1(some); });
  }

 private:
  struct Counts {
    double both = 0, one = 0;  ///< frames active in both, and in one only
  };

  [[nodiscard]] double f1(std::span<const std::size_t> some) const {
    Counts all;
    for (const std::size_t s : some) {
      all.both += samples_[s].both;
      all.one += samples_[s].one;
    }
    if (all.both + all.one == 0) return std::numeric_limits<double>::quiet_NaN();
    return 2 * all.both / (2 * all.both + all.one);
  }

  std::vector<Counts> samples_;
};

}  // namespace

void register_frame_f1(Registry<AccuracyMeasureEntry>& registry) {
  registry.add("frame_f1", {"F1 of decisions frame by frame: voice activity",
                            [] { return std::make_shared<FrameF1>(); }});
}

}  // namespace d5::accuracy_measure
