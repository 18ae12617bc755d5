// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/machine/rapl.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {
namespace {

/// Energy of one call: of all processor packages, including other work on them.
class Energy final : public Metric {
 public:
  [[nodiscard]] std::string name() const override { return "energy"; }
  [[nodiscard]] std::string unit() const override { return "J"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::energy; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void begin(int repetitions) override {
    repetitions_ = repetitions;
    begin_ = counters_.joules();
  }
  void end() override { samples_.push_back((counters_.joules() - begin_) / repetitions_); }
  void sample(double seconds) override { shortest_ = std::min(shortest_, seconds * repetitions_); }
  void summarise(Measurement& result) const override {
    if (!counters_.absence().empty()) {
      result.status = Status::unsupported;
      result.reason = counters_.absence();
      return;
    }
    result.samples = samples_;
    if (shortest_ < 0.1)
      mistrust(result, "a sample is too short for counters that tick each millisecond");
  }

 private:
  detail::Rapl counters_;
  double begin_ = 0;
  int repetitions_ = 1;
  double shortest_ = 1e300;
  std::vector<double> samples_;
};

}  // namespace

namespace metric {
void register_energy(Registry<MetricEntry>& registry) {
  registry.add("energy",
               MetricEntry::of<Energy>("energy of the processor packages for one call (RAPL)"));
}
}  // namespace metric

}  // namespace d5
