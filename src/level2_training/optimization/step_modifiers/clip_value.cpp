// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/shared/kept_settings.hpp"
#include "level2_training/optimization/shared/on_host.hpp"

namespace d5 {
namespace {

struct ClipValueOptions {
  double most = 1;

  void declare(OptionList& options) {
    options.add("most", most, "maximum absolute value of a gradient's element", {.above = 0});
  }
};

/// Clips each element of a gradient to [-most, most]; NaN stays NaN.
class ClipValue : public StepModifier {
 public:
  using Options = ClipValueOptions;
  explicit ClipValue(const Options& options) : options_(options) {}

  [[nodiscard]] std::string name() const override { return "clip_value"; }
  [[nodiscard]] bool wants_all_gradients() const override { return true; }
  [[nodiscard]] std::optional<double> element_limit() const override { return options_.most; }
  bool gradients_final(ThreeStepOptimizer& optimizer, double& factor) override {
    const double most = options_.most / factor;
    for (Parameter& parameter : optimizer.executor().network().parameters()) {
      detail::change_on_host(parameter.gradient, [most]<class T>(std::span<T> values) {
        for (T& value : values) {
          if (double(value) > most) value = T(detail::Wide<T>(most));
          if (double(value) < -most) value = T(detail::Wide<T>(-most));
        }
      });
    }
    return true;
  }

 private:
  Options options_;
};

}  // namespace

namespace step_modifier {

void register_clip_value(Registry<StepModifierEntry>& registry) {
  registry.add("clip_value", StepModifierEntry::of<detail::KeptSettings<ClipValue>>(
                                 "gradient clipping by value"));
}

}  // namespace step_modifier
}  // namespace d5
