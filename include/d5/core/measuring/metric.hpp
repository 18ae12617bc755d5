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

/// A quantity that can be measured on any subject: an operator, a network, a training run.
///
/// Each subject gets a new object. For each run of the subject, the engine calls `begin`, the
/// subject (the only part inside the clock), `end` and `sample`; finally `summarise`, once. With
/// several metrics, the first to begin is the last to end.
///
/// A metric may also be an Event and collect data from the hooks between `begin` and `end`: the
/// engine adds it to the subject's event lists before each of its runs and removes it afterwards.
class Metric {
 public:
  /// Value of `reruns`: `MeasureOptions::samples` runs.
  static constexpr int kAsAsked = 0;

  virtual ~Metric() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// SI unit without prefix: "s", "byte", "flop/s", "1".
  [[nodiscard]] virtual std::string unit() const = 0;
  [[nodiscard]] virtual Quantity quantity() const = 0;
  [[nodiscard]] virtual Direction direction() const { return Direction::lower_is_better; }
  /// The statistic that summarises the samples.
  [[nodiscard]] virtual Statistic statistic() const { return {}; }
  [[nodiscard]] virtual OverRanks over_ranks() const { return OverRanks::apart; }
  /// The number of runs of the subject that the metric needs.
  [[nodiscard]] virtual int reruns() const { return 1; }
  /// Called right before a run that does `repetitions` calls of the subject.
  virtual void begin(int repetitions) { (void)repetitions; }
  /// Called right after the run, unless the subject threw.
  virtual void end() {}
  /// Called after `end`, with the time of one call in that run on the engine's clock.
  virtual void sample(double seconds) { (void)seconds; }
  /// Fills the samples of a record whose subject and metric are already set; optionally also its
  /// status, reason and conditions. Even the first run may have ended early.
  virtual void summarise(Measurement& result) const = 0;

 private:
  friend class detail::MetricRuns;
  bool used_ = false;
};

using MetricEntry = Entry<std::shared_ptr<Metric>()>;

/// All metrics by name: those of core, of the linked levels, and of the user.
[[nodiscard]] Registry<MetricEntry>& metrics();

namespace detail {
/// Each level adds its metrics. Weak, so that core links without the levels.
[[gnu::weak]] void add_network_metrics(Registry<MetricEntry>& registry);
[[gnu::weak]] void add_training_metrics(Registry<MetricEntry>& registry);
[[gnu::weak]] void add_distributed_metrics(Registry<MetricEntry>& registry);
}  // namespace detail

/// A metric to measure: a registered name with settings, or a function that makes an object for
/// each subject.
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

  /// Empty for a function.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The text that the constructor reads: "time_to_accuracy:target=0.98". Empty for a function.
  [[nodiscard]] std::string to_line() const;
  /// Throws: NotFound for an unknown name or setting; what the metric throws for a wrong value.
  [[nodiscard]] std::shared_ptr<Metric> make() const;

 private:
  std::string name_;
  Settings settings_;
  std::function<std::shared_ptr<Metric>()> make_;
};

}  // namespace d5
