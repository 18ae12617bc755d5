// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/registry.hpp"

namespace d5 {

struct Measurement;

enum class Direction { lower_is_better, higher_is_better, neither };

/// Something that is measured on any subject: an operator, a network, a training run.
///
/// An object serves one measurement, and is made anew for the next. The engine calls, for each run
/// of the subject, `begin`, then the subject with the clock around it alone, then `end` and
/// `sample`; at last `summarise` once. With several metrics the first to begin is the last to end.
/// A class may be an Event too, and collect between `begin` and `end` what the hooks tell it.
class Metric {
 public:
  /// For `reruns`: as many as `MeasureOptions::samples` says.
  static constexpr int kAsAsked = 0;

  virtual ~Metric() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// SI, without prefix: "s", "byte", "flop/s", "1".
  [[nodiscard]] virtual std::string unit() const = 0;
  [[nodiscard]] virtual Direction direction() const { return Direction::lower_is_better; }
  /// How many runs of the subject it wants; the engine makes the most that any metric wants.
  [[nodiscard]] virtual int reruns() const { return 1; }
  /// Called right before a run that does `repetitions` calls of the subject.
  virtual void begin(int repetitions) { (void)repetitions; }
  /// Called right after it.
  virtual void end() {}
  /// Called after `end`: how long one call of that run took on the engine's clock.
  virtual void sample(double seconds) { (void)seconds; }
  /// Fills samples, status and reason of a record whose subject and metric are already named.
  virtual void summarise(Measurement& result) const = 0;

 private:
  friend class MetricSession;
  bool used_ = false;
};

struct MetricEntry {
  std::string summary;  ///< one line for `d5 list metrics`
  std::function<std::shared_ptr<Metric>()> make;
};

/// All metrics by name; built-in ones are there, a user's `add` joins them.
[[nodiscard]] Registry<MetricEntry>& metrics();

}  // namespace d5
