// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/measurement.hpp"
#include "d5/level1_network/execution/framework_overhead.hpp"

namespace d5 {
namespace {

/// The share of a run that is spent outside of operators.
class OverheadShare final : public FrameworkOverhead {
 public:
  [[nodiscard]] std::string name() const override { return "overhead_share"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::share; }
  void summarise(Measurement& result) const override {
    FrameworkOverhead::summarise(result);
    result.samples = shares();
    result.conditions.erase("share of the run");  // it is this
  }
};

}  // namespace

namespace network_metric {
void register_overhead_share(Registry<MetricEntry>& registry) {
  registry.add("overhead_share",
               MetricEntry::of<OverheadShare>("executor overhead as a share of the whole run"));
}
}  // namespace network_metric

}  // namespace d5
