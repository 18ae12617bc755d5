// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Increment of one of the system's counters for this process, over all threads, per call of the
/// subject.
class ProcessCounter : public Metric {
 public:
  [[nodiscard]] std::string name() const final { return name_; }
  [[nodiscard]] std::string unit() const final { return unit_; }
  [[nodiscard]] Quantity quantity() const final { return quantity_; }
  [[nodiscard]] OverRanks over_ranks() const final { return OverRanks::sum; }
  [[nodiscard]] int reruns() const final { return kAsAsked; }
  void begin(int repetitions) final {
    repetitions_ = repetitions;
    begin_ = read_();
  }
  void end() final { samples_.push_back((read_() - begin_) / repetitions_); }
  void summarise(Measurement& result) const final { result.samples = samples_; }

 protected:
  /// `read` returns the counter's value; exact up to 2^53.
  ProcessCounter(std::string name, std::string unit, Quantity quantity, double (*read)())
      : name_(std::move(name)), unit_(std::move(unit)), quantity_(quantity), read_(read) {}

 private:
  std::string name_, unit_;
  Quantity quantity_;
  double (*read_)();
  int repetitions_ = 1;
  double begin_ = 0;
  std::vector<double> samples_;
};

}  // namespace d5::detail
