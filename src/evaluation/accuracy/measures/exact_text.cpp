// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/accuracy/accuracy_record.hpp"
#include "evaluation/accuracy/judged_text.hpp"

namespace d5::accuracy_measure {
namespace {

/// Share of samples whose `text` is the data set's, to the byte.
class ExactText final : public AccuracyMeasure {
 public:
  double judge(const ValueMap& answer, const ValueMap& right) override {
    const std::string& given = detail::judged_text("text", answer, "exact_text", "the answer");
    const std::string& truth = detail::judged_text("text", right, "exact_text", "the data set");
    right_.push_back(given == truth ? 1 : 0);
    return right_.back();
  }
  void miss(const ValueMap&) override { right_.push_back(0); }
  [[nodiscard]] Measurement record() const override {
    Measurement record = detail::accuracy_record("exact_text");
    record.statistic = {.of = Statistic::Of::share};
    record.samples = right_;
    return record;
  }

 private:
  std::vector<double> right_;
};

}  // namespace

void register_exact_text(Registry<AccuracyMeasureEntry>& registry) {
  registry.add("exact_text", {"share of samples whose text is right to the last character",
                              [] { return std::make_shared<ExactText>(); }});
}

}  // namespace d5::accuracy_measure
