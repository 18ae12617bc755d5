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

/// What a hyper-parameter is at each time: most are functions of the time alone, so that training
/// may resume, or go anywhere, without a state.
///
///     auto schedule = schedules().at("cosine").make({{"length", 64000}});
///     const double rate = schedule->at(1000, 0.1);
class Schedule {
 public:
  enum class Observes { nothing, training_loss, test_loss };
  enum class Every { step, epoch };  ///< what time counts

  virtual ~Schedule() = default;
  /// The number at `time`, which counts steps or epochs from 0, where it is `initial` by itself.
  /// Called once a step. Past a schedule's end the number stays what it was there.
  [[nodiscard]] virtual double at(std::int64_t time, double initial) = 0;
  /// Whether it is told losses, averaged over all ranks: of each step that is not refused, or of
  /// each test run.
  [[nodiscard]] virtual Observes observes() const { return Observes::nothing; }
  virtual void observe(double loss) { (void)loss; }
  /// What a checkpoint keeps, of one that observes.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  /// Throws: NotFound, TypeError for a state that is not its own.
  virtual void restore(const ValueMap& state) { (void)state; }
};

using ScheduleEntry = Entry<std::shared_ptr<Schedule>()>;
/// All by name.
[[nodiscard]] Registry<ScheduleEntry>& schedules();

/// Its settings are the schedule's own, and `every: step|epoch`, what the time counts.
///
///     optimizer.add(scheduled("learning_rate", {"step", {{"size", 30}, {"every", "epoch"}}}));
///
/// Throws: NotFound, ValueError; when it is added NotFound for a number that the optimizer has not;
/// in a step NumericError for a number that is none, ValueError for one out of its range.
[[nodiscard]] std::shared_ptr<StepModifier> scheduled(const std::string& hyper_parameter,
                                                      const EntryChoice& schedule);
/// By one that is there already, for this optimizer alone; `word` names it in messages.
[[nodiscard]] std::shared_ptr<StepModifier> scheduled(const std::string& hyper_parameter,
                                                      std::shared_ptr<Schedule> schedule,
                                                      Schedule::Every every = Schedule::Every::step,
                                                      const std::string& word = "of its own");

}  // namespace d5
