// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"

namespace d5 {

/// A hyper-parameter over time. Most schedules depend on the time alone, so that training can
/// resume or seek without state.
///
///     auto schedule = schedules().at("cosine").make({{"length", 64000}});
///     const double rate = schedule->at(1000, 0.1);
class Schedule {
 public:
  enum class Observes { nothing, training_loss, test_loss };
  enum class Every { step, epoch };  ///< unit of time

  virtual ~Schedule() = default;
  /// Value at `time`, which counts steps or epochs from 0; `initial` is the value without a
  /// schedule. Called once per step. After the end of a schedule the value stays constant.
  [[nodiscard]] virtual double at(std::int64_t time, double initial) = 0;
  /// Losses to observe, averaged over all ranks: of each step that is not rejected, or of each test
  /// run.
  [[nodiscard]] virtual Observes observes() const { return Observes::nothing; }
  virtual void observe(double loss) { (void)loss; }
  /// State for checkpoints, for schedules that observe losses.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  /// Throws: NotFound, TypeError for the state of another schedule.
  virtual void restore(const ValueMap& state) { (void)state; }
};

using ScheduleEntry = Entry<std::shared_ptr<Schedule>()>;
/// Registered schedules by name.
[[nodiscard]] Registry<ScheduleEntry>& schedules();

/// Makes a modifier that sets `hyper_parameter` by a schedule. Settings are the schedule's own, and
/// `every: step|epoch`, the unit of time.
///
///     optimizer.add(scheduled("learning_rate", {"step", {{"size", 30}, {"every", "epoch"}}}));
///
/// Throws: NotFound, ValueError; when added, NotFound for a number that the optimizer lacks; in a
/// step, NumericError for NaN, ValueError for a value out of range.
[[nodiscard]] std::shared_ptr<StepModifier> scheduled(const std::string& hyper_parameter,
                                                      const EntryChoice& schedule);
/// The same with an existing schedule, for this optimizer alone; `word` names it in messages.
[[nodiscard]] std::shared_ptr<StepModifier> scheduled(const std::string& hyper_parameter,
                                                      std::shared_ptr<Schedule> schedule,
                                                      Schedule::Every every = Schedule::Every::step,
                                                      const std::string& word = "of its own");

}  // namespace d5
