// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/measuring/metric.hpp"

namespace d5 {

/// Work a second, where the work of one call is known. The engine adds those of a subject's `Work`
/// by itself; this is for work of another kind.
///
///     measure({lookup}, {[&] { return std::make_shared<Rate>("lookup_rate", "lookup", keys); }});
class Rate final : public Metric {
 public:
  /// `amount` of `unit` is done by one call of the subject.
  Rate(std::string name, std::string unit, double amount)
      : name_(std::move(name)), unit_(std::move(unit) + "/s"), amount_(amount) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string unit() const override { return unit_; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::rate; }
  [[nodiscard]] Direction direction() const override { return Direction::higher_is_better; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void sample(double seconds) override { samples_.push_back(amount_ / seconds); }
  void summarise(Measurement& result) const override;

 private:
  std::string name_;
  std::string unit_;
  double amount_;
  std::vector<double> samples_;
};

}  // namespace d5
