// SPDX-License-Identifier: Apache-2.0
#include "core/process_clock.hpp"
#include "d5/core/measurement.hpp"
#include "d5/core/metric.hpp"

namespace d5 {
namespace {

/// Processor time of one call, summed over all threads of the process.
class CpuTime final : public Metric {
 public:
  [[nodiscard]] std::string name() const override { return "cpu_time"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::sum; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void begin(int repetitions) override {
    repetitions_ = repetitions;
    begin_ = detail::process_seconds();
  }
  void end() override { samples_.push_back((detail::process_seconds() - begin_) / repetitions_); }
  void summarise(Measurement& result) const override { result.samples = samples_; }

 private:
  int repetitions_ = 1;
  double begin_ = 0;
  std::vector<double> samples_;
};

}  // namespace

namespace metric {
void register_cpu_time(Registry<MetricEntry>& registry) {
  registry.add("cpu_time",
               MetricEntry::of<CpuTime>("processor time of one call, all threads together"));
}
}  // namespace metric

}  // namespace d5
