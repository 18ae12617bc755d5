// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "evaluation/predictor/zero_scores.hpp"

namespace d5::predictor {
namespace {

struct SleepOptions : detail::ZeroScoresOptions {
  double seconds = 0.001, seconds_per_sample = 0;
  void declare(OptionList& options) {
    options.add("seconds", seconds, "time per call", {.least = 0, .most = 3600});
    options.add("seconds_per_sample", seconds_per_sample, "further time per sample of the call",
                {.least = 0, .most = 3600});
    ZeroScoresOptions::declare(options);
  }
};

/// Answers after a known time.
class SleepPredictor final : public Predictor {
 public:
  using Options = SleepOptions;
  SleepPredictor(const ModelAssets&, const PredictorOptions&, const Options& options)
      : options_(options), scores_(options) {}
  [[nodiscard]] std::string name() const override { return "sleep"; }
  const ValueMap& predict(const ValueMap& inputs) override {
    const double samples = static_cast<double>(detail::batch_of(inputs));
    std::this_thread::sleep_for(
        std::chrono::duration<double>(options_.seconds + options_.seconds_per_sample * samples));
    return scores_.of(inputs);
  }

 private:
  Options options_;
  detail::ZeroScores scores_;
};

}  // namespace

void register_sleep(Registry<PredictorEntry>& registry) {
  registry.add("sleep", PredictorEntry::of<SleepPredictor>("answers zeros after a known time"));
}

}  // namespace d5::predictor
