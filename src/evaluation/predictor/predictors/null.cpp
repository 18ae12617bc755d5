// SPDX-License-Identifier: Apache-2.0
#include "evaluation/predictor/zero_scores.hpp"

namespace d5::predictor {
namespace {

/// Answers immediately, always the same: measures the overhead of the caller.
class NullPredictor final : public Predictor {
 public:
  using Options = detail::ZeroScoresOptions;
  NullPredictor(const ModelAssets&, const PredictorOptions&, const Options& options)
      : scores_(options) {}
  [[nodiscard]] std::string name() const override { return "null"; }
  const ValueMap& predict(const ValueMap& inputs) override { return scores_.of(inputs); }

 private:
  detail::ZeroScores scores_;
};

}  // namespace

void register_null(Registry<PredictorEntry>& registry) {
  registry.add("null", PredictorEntry::of<NullPredictor>("answers zeros immediately"));
}

}  // namespace d5::predictor
