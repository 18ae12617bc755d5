// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/measuring/metric.hpp"

namespace d5 {

/// Work per second, if the work of one call is known. The engine adds the rates of a subject's
/// `Work` itself; this class is for other kinds of work.
///
///     measure({lookup}, {[&] { return std::make_shared<Rate>("lookup_rate", "lookup", keys); }});
class Rate final : public Metric {
 public:
  /// One call of the subject does `amount` `unit`s of work.
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
