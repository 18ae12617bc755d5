// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "level2_training/optimization/shared/schedule_parts.hpp"

namespace d5 {
namespace {

struct ChainOptions {
  std::vector<EntryChoice> parts = {};

  void declare(OptionList& options) {
    options.add("parts", parts,
                "schedules to combine; each multiplies the result of the one before", "schedule");
  }
};

/// Composes schedules: the value of the first one is the initial value of the second.
class Chain final : public Schedule {
 public:
  using Options = ChainOptions;
  explicit Chain(const Options& options) : parts_("chain", options.parts) {
    if (parts_.size() > 0) return;
    throw ValueError("schedule chain: it has no parts; give some, as in parts.0.name=warmup");
  }

  [[nodiscard]] double at(std::int64_t time, double initial) override {
    double number = initial;
    for (std::size_t i = 0; i < parts_.size(); ++i) number = parts_[i].at(time, number);
    return number;
  }
  [[nodiscard]] Observes observes() const override { return parts_.observes(); }
  void observe(double loss) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_.observe(i, loss);
  }
  [[nodiscard]] ValueMap state() const override { return parts_.state(); }
  void restore(const ValueMap& state) override { parts_.restore(state); }

 private:
  detail::ScheduleParts parts_;
};

}  // namespace

namespace schedule {

void register_chain(Registry<ScheduleEntry>& registry) {
  registry.add("chain", ScheduleEntry::of<Chain>("product of several schedules"));
}

}  // namespace schedule
}  // namespace d5
