// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/entries/settings.hpp"
#include "d5/core/numbers/quantity.hpp"
#include "d5/core/statistics/statistics.hpp"

namespace d5 {

struct Measurement;
namespace detail {
class MetricRuns;
}

/// Something that is measured on any subject: an operator, a network, a training run.
///
/// An object serves one subject, and is made anew for the next. The engine calls, for each run of
/// the subject, `begin`, then the subject with the clock around it alone, then `end` and `sample`;
/// at last `summarise` once. With several metrics the first to begin is the last to end.
///
/// A class may be an Event too, and collect between `begin` and `end` what the hooks tell it: the
/// engine adds it to the subject's event lists before each of its runs and removes it after.
class Metric {
 public:
  /// For `reruns`: as many as `MeasureOptions::samples` says.
  static constexpr int kAsAsked = 0;

  virtual ~Metric() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// SI, without prefix: "s", "byte", "flop/s", "1".
  [[nodiscard]] virtual std::string unit() const = 0;
  [[nodiscard]] virtual Quantity quantity() const = 0;
  [[nodiscard]] virtual Direction direction() const { return Direction::lower_is_better; }
  /// The number that stands for the samples.
  [[nodiscard]] virtual Statistic statistic() const { return {}; }
  [[nodiscard]] virtual OverRanks over_ranks() const { return OverRanks::apart; }
  /// How many runs of the subject it wants.
  [[nodiscard]] virtual int reruns() const { return 1; }
  /// Called right before a run that does `repetitions` calls of the subject.
  virtual void begin(int repetitions) { (void)repetitions; }
  /// Called right after it; not if the subject threw.
  virtual void end() {}
  /// Called after `end`: how long one call of that run took on the engine's clock.
  virtual void sample(double seconds) { (void)seconds; }
  /// Fills samples, and status, reason and conditions where there is more to say, of a record whose
  /// subject and metric are already named. The first run may have ended in its middle.
  virtual void summarise(Measurement& result) const = 0;

 private:
  friend class detail::MetricRuns;
  bool used_ = false;
};

using MetricEntry = Entry<std::shared_ptr<Metric>()>;

/// All metrics by name: core's, those of the levels that are linked, a user's.
[[nodiscard]] Registry<MetricEntry>& metrics();

namespace detail {
/// Each level adds its own. Weak, so that core links alone; a level that is linked defines its one.
[[gnu::weak]] void add_network_metrics(Registry<MetricEntry>& registry);
[[gnu::weak]] void add_training_metrics(Registry<MetricEntry>& registry);
[[gnu::weak]] void add_distributed_metrics(Registry<MetricEntry>& registry);
}  // namespace detail

/// A metric that shall be measured: a name of the registry, with settings, or a function that makes
/// an object for each subject.
///
///     measure(subjects, {"time", "time_to_accuracy:target=0.98:stop=true"});
///     measure(subjects, {"time", [] { return std::make_shared<CallCount>(); }});
class MetricChoice {
 public:
  /// `text` is NAME[:KEY=VALUE]... Throws: ValueError for settings without "=".
  MetricChoice(const std::string& text);
  MetricChoice(const char* text) : MetricChoice(std::string(text)) {}
  MetricChoice(std::string name, Settings settings);
  template <std::invocable Make>
    requires std::convertible_to<std::invoke_result_t<Make>, std::shared_ptr<Metric>>
  MetricChoice(Make make) : make_(std::move(make)) {}

  /// Empty for one that is made by a function.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// "time_to_accuracy:target=0.98": what the constructor reads. Empty for a function's.
  [[nodiscard]] std::string to_line() const;
  /// Throws: NotFound for an unknown name or setting; what the metric throws for a wrong value.
  [[nodiscard]] std::shared_ptr<Metric> make() const;

 private:
  std::string name_;
  Settings settings_;
  std::function<std::shared_ptr<Metric>()> make_;
};

}  // namespace d5
