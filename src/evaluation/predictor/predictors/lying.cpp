// SPDX-License-Identifier: Apache-2.0
#include "evaluation/predictor/zero_scores.hpp"

namespace d5::predictor {
namespace {

struct LyingOptions : detail::ZeroScoresOptions {
  std::string of = "reference";
  std::int64_t after = 0;
  void declare(OptionList& options) {
    options.add("of", of, "predictor that computes the first answers");
    options.add("after", after, "number of samples after which it answers zeros without computing",
                {.least = 0});
    ZeroScoresOptions::declare(options);
  }
};

/// A cheat: computes the first answers only, then answers zeros.
class LyingPredictor final : public Predictor {
 public:
  using Options = LyingOptions;
  LyingPredictor(const ModelAssets& assets, const PredictorOptions& options, const Options& own)
      : options_(own), honest_(open_predictor(own.of, assets, options)), scores_(own) {}
  [[nodiscard]] std::string name() const override { return "lying"; }
  const ValueMap& predict(const ValueMap& inputs) override {
    const bool honest = asked_ < options_.after;
    asked_ += detail::batch_of(inputs);
    return honest ? honest_->predict(inputs) : scores_.of(inputs);
  }

 private:
  Options options_;
  std::shared_ptr<Predictor> honest_;
  detail::ZeroScores scores_;
  std::int64_t asked_ = 0;
};

}  // namespace

void register_lying(Registry<PredictorEntry>& registry) {
  registry.add("lying", PredictorEntry::of<LyingPredictor>(
                            "a cheat: computes the first answers only, then answers zeros"));
}

}  // namespace d5::predictor
