// SPDX-License-Identifier: Apache-2.0
// A framework plug-in from outside d5's tree: one operator, one metric.
#include "d5/core/entries/plugin.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::outside_ops {
void register_all(OperatorRegistry& registry);  // generated from the files in ops/
}

namespace {

/// Counts the calls of the subject.
class CallCount final : public d5::Metric {
 public:
  std::string name() const override { return "call_count"; }
  std::string unit() const override { return "1"; }
  d5::Quantity quantity() const override { return d5::Quantity::count; }
  d5::Direction direction() const override { return d5::Direction::neither; }
  void begin(int repetitions) override { samples_.push_back(repetitions); }
  void summarise(d5::Measurement& result) const override { result.samples = samples_; }

 private:
  std::vector<double> samples_;
};

void fill(d5::Framework& framework) {
  d5::outside_ops::register_all(framework.part<d5::OperatorRegistry>());
  d5::metrics().add("call_count", d5::MetricEntry::of<CallCount>("calls of the subject a sample"));
}

}  // namespace

D5_FRAMEWORK_PLUGIN("outside", "1.0", fill)
