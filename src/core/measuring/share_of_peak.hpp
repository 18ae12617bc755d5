// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/measuring/measure.hpp"
#include "d5/core/peak/machine_peak.hpp"

namespace d5::detail {

/// The roofline's minimal time for a call's work, divided by the measured time. The condition
/// "bound" is the limiting resource, "compute" or "memory". Data in caches may exceed the memory
/// bound, with a share above 1. A share above 1 for "compute" is mistrusted.
class ShareOfPeak final : public Metric {
 public:
  ShareOfPeak(const Work& work, const MachinePeak& peak);
  /// Whether both the work and the peak are known.
  [[nodiscard]] static bool is_known(const Work& work, const MachinePeak& peak);

  [[nodiscard]] std::string name() const override { return "share_of_peak"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::rate; }
  [[nodiscard]] Direction direction() const override { return Direction::higher_is_better; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void sample(double seconds) override { samples_.push_back(least_seconds_ / seconds); }
  void summarise(Measurement& result) const override;

 private:
  double compute_seconds_, memory_seconds_, least_seconds_;
  std::vector<double> samples_;
};

}  // namespace d5::detail
