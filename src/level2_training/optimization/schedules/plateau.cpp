// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct PlateauOptions {
  enum class Loss { test, training } loss = Loss::test;
  enum class Measure { relative, absolute } measure = Measure::relative;
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;
  std::int64_t cooldown = 0;
  double least = 0;

  void declare(OptionList& options) {
    options.add("loss", loss, "loss that is observed", {"test", "training"});
    options.add("factor", factor, "factor on the value when the loss stops falling",
                {.least = 0, .below = 1});
    options.add("patience", patience, "number of losses without improvement before a reduction",
                {.least = 0});
    options.add("threshold", threshold, "minimum improvement on the best loss", {.least = 0});
    options.add("measure", measure, "measure of the threshold", {"relative", "absolute"});
    options.add("cooldown", cooldown, "number of losses that are ignored after a reduction",
                {.least = 0});
    options.add("least", least, "minimum value as a share of the initial one", {.least = 0});
  }
};

/// initial * share; share becomes max(share * factor, least) after more than `patience` losses one
/// after another that are not better than the best. A loss is the mean of those of one time: of a
/// step, or of an epoch's steps. One that is not a number is not better.
///
/// Source: the rule of LibTorch's ReduceLROnPlateau.
class Plateau final : public Schedule {
 public:
  using Options = PlateauOptions;
  explicit Plateau(const Options& options) : options_(options) {}

  [[nodiscard]] double at(std::int64_t time, double initial) override {
    if (time != time_ && losses_ > 0) judge(sum_ / double(losses_));
    time_ = time;
    return initial * share_;
  }
  [[nodiscard]] Observes observes() const override {
    return options_.loss == Options::Loss::test ? Observes::test_loss : Observes::training_loss;
  }
  void observe(double loss) override {
    sum_ += loss;
    ++losses_;
  }

  [[nodiscard]] ValueMap state() const override {
    return {{"best", Tensor::scalar(best_)}, {"share", Tensor::scalar(share_)},
            {"bad", Tensor::scalar(bad_)},   {"cooldown", Tensor::scalar(cooldown_)},
            {"sum", Tensor::scalar(sum_)},   {"losses", Tensor::scalar(losses_)},
            {"time", Tensor::scalar(time_)}};
  }
  void restore(const ValueMap& state) override {
    const auto entry = [&]<class T>(const char* name, T& value) {
      value = state_entry(state, name, "schedule plateau").item<T>();
    };
    entry("best", best_), entry("share", share_), entry("bad", bad_);
    entry("cooldown", cooldown_), entry("sum", sum_), entry("losses", losses_);
    entry("time", time_);
  }

 private:
  void judge(double loss) {
    sum_ = 0, losses_ = 0;
    const double bound = options_.measure == Options::Measure::relative
                             ? best_ * (1 - options_.threshold)
                             : best_ - options_.threshold;
    if (loss < bound) {
      best_ = loss;
      bad_ = 0;
    } else {
      ++bad_;
    }
    if (cooldown_ > 0) {
      --cooldown_;
      bad_ = 0;
    }
    if (bad_ <= options_.patience) return;
    share_ = std::max(share_ * options_.factor, options_.least);
    cooldown_ = options_.cooldown;
    bad_ = 0;
  }

  Options options_;
  double best_ = std::numeric_limits<double>::infinity(), share_ = 1, sum_ = 0;
  std::int64_t bad_ = 0, cooldown_ = 0, losses_ = 0, time_ = -1;
};

}  // namespace

namespace schedule {

void register_plateau(Registry<ScheduleEntry>& registry) {
  registry.add(
      "plateau",
      ScheduleEntry::of<Plateau>(
          "reduction on plateau: multiplies the value by a factor when a loss stops falling"));
}

}  // namespace schedule
}  // namespace d5
