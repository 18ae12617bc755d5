// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "d5/core/measurement.hpp"
#include "d5/core/metric.hpp"

namespace d5 {
namespace {

/// Voluntary context switches of one call, summed over all threads of the process: how often a
/// thread gave its processor away because it had to wait, for a lock, another thread or a device.
/// A subject that only computes on one thread has none.
class VoluntaryContextSwitches final : public Metric {
 public:
  [[nodiscard]] std::string name() const override { return "voluntary_context_switches"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::count; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::sum; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void begin(int repetitions) override {
    repetitions_ = repetitions;
    begin_ = now();
  }
  void end() override { samples_.push_back(double(now() - begin_) / repetitions_); }
  void summarise(Measurement& result) const override { result.samples = samples_; }

 private:
  static long now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
  }
  int repetitions_ = 1;
  long begin_ = 0;
  std::vector<double> samples_;
};

}  // namespace

namespace metric {
void register_voluntary_context_switches(Registry<MetricEntry>& registry) {
  registry.add("voluntary_context_switches",
               MetricEntry::of<VoluntaryContextSwitches>(
                   "voluntary context switches (waits) of one call, all threads together"));
}
}  // namespace metric

}  // namespace d5
