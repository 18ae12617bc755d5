// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "evaluation/pipeline/score_row.hpp"

namespace d5::answer_step {
namespace {

struct ThresholdOptions {
  std::string of, to = "active";
  double threshold = 0.5;
  void declare(OptionList& options) {
    options.add("of", of, "name of the scores; empty: the only value");
    options.add("to", to, "name of the decisions");
    options.add("threshold", threshold, "least score of 1");
  }
};

/// 1 where a score is at least the threshold, else 0: int64, with the scores' shape but dimensions
/// of 1 at its end.
class ThresholdStep final : public AnswerStep {
 public:
  using Options = ThresholdOptions;
  explicit ThresholdStep(const Options& options) : options_(options) {}
  void run(ValueMap& values) const override {
    const Tensor& scores = value_for(values, options_.of, "threshold");
    const auto row = detail::score_row(scores, "threshold");
    auto dims = scores.shape().dims();
    while (dims.size() > 1 && dims.back() == 1) dims = dims.first(dims.size() - 1);
    Tensor decisions = Tensor::empty(DType::int64, Shape(dims));
    auto* out = decisions.data<std::int64_t>();
    for (const double score : row) *out++ = score >= options_.threshold ? 1 : 0;  // NaN is no score
    values[options_.to] = std::move(decisions);
  }

 private:
  Options options_;
};

}  // namespace

void register_threshold(Registry<AnswerStepEntry>& registry) {
  registry.add("threshold", AnswerStepEntry::of<ThresholdStep>(
                                "decisions: 1 for scores of at least a threshold, else 0"));
}

}  // namespace d5::answer_step
