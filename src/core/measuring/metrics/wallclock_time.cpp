// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {
namespace {

/// Time of one call on the monotonic clock.
class WallclockTime final : public Metric {
 public:
  [[nodiscard]] std::string name() const override { return "time"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void sample(double seconds) override { samples_.push_back(seconds); }
  void summarise(Measurement& result) const override { result.samples = samples_; }

 private:
  std::vector<double> samples_;
};

}  // namespace

namespace metric {
void register_wallclock_time(Registry<MetricEntry>& registry) {
  registry.add("time", MetricEntry::of<WallclockTime>("wall-clock time of one call"));
}
}  // namespace metric

}  // namespace d5
