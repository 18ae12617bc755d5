// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "d5/core/trace/event.hpp"

namespace d5 {

/// What one call of a subject does; 0 where it is not known.
struct Work {
  double flop = 0;
  double bytes = 0;              ///< read and written
  double samples = 0;            ///< of a batch
  double memory = 0;             ///< bytes that it was planned to hold at once
  DType dtype = DType::float32;  ///< that it computes in: which of the machine's peaks bounds it
};

/// What was found of a subject's answers.
struct Verdict {
  /// Doubtful: off by little more than what rounding explains. Uncompared: the judge's own answers
  /// say nothing (NaN, a constant), so that agreeing with them does not.
  enum class Is { right, doubtful, wrong, unknown, uncompared };
  Is is = Is::unknown;
  std::string judge = {};   ///< who says so: "reference in float64"
  std::string reason = {};  ///< of every verdict but right: which answer, its error, the bound
};

/// One thing that can be run again and again, and what is known of it before it runs.
struct Subject {
  enum class Moment { before, after };  ///< the clock
  /// Whether one run is like the next.
  enum class Life {
    repeatable,
    once,  ///< it changes as it runs (training): one run without warm-up, which all metrics share
  };
  Measurement record = {};  ///< subject, command, level, framework, device, conditions, artefacts
  std::function<void()> run = {};
  std::function<void()> prepare = {};      ///< before each run, outside the clock
  std::function<void()> synchronise = {};  ///< waits for a device before the clock is read
  Work work = {};                          ///< of one call; rates follow the metric "time"
  std::vector<EventList*> events = {};     ///< where metrics that are events are hung up
  Life life = Life::repeatable;
  /// Whether it answers right, on what it is timed on; it may run the subject. Asked outside the
  /// clock, once before the first run that is timed and once after the last. Who is wrong has times
  /// in its records, and they are failed.
  std::function<Verdict(Moment)> judge = {};
};

struct MeasureOptions {
  int samples = 30;
  int warmup = 3;
  double seconds_per_sample = 1e-4;
  double most_seconds = 60;
  bool cold_cache = false;
  bool unjudged = false;
  double judge_seconds = 60;
  std::uint64_t seed = 0;    ///< of the order of subjects
  Interrupt interrupt = {};  ///< ends it, also before the first sample
  /// Called after each of a subject's turns, outside the clock: `samples` times a subject.
  std::function<void()> on_sample = {};

  /// All that words can tell, said once: for the program, its help, commands of records, and
  /// Python.
  void declare(OptionList& options);
};

/// Measures every metric on every subject: subject by subject, metric by metric, in their order,
/// and after the metric "time" the rates of the subject's work: "flop_rate", "byte_rate",
/// "sample_rate"; on a machine whose peak is known (`machine_peak`) also "share_of_peak", with the
/// condition "bound": what the roofline allows, "compute" or "memory". After "peak_memory", which
/// counts all that the process holds, comes what the subject was planned to hold:
/// "predicted_memory".
///
/// Subjects are interleaved: rounds, in random order within a round, so that drift of the machine
/// meets all alike; samples of the same index were taken in the same round (`compare` them).
/// Metrics share a subject's runs, except that one that is an Event has runs of its own, for it is
/// inside the clock.
///
/// Answers of subjects that have a judge are judged before and after: the conditions "answers"
/// ("right", "doubtful", "wrong", "not judged", "not compared") and "judge" say what was found, and
/// who found it. Records of who is wrong are failed, with the reason (`answers_wrongly`), those of
/// who is doubtful, or was compared with answers that say nothing, mistrusted.
///
/// A subject that throws makes failed records (`Unsupported` unsupported ones) with its message, a
/// metric that throws one; the others go on. A record is mistrusted, with the reason, if it has too
/// few samples, if the clock is too coarse for it, if the samples drift, if other work was in its
/// way, or if it was interrupted; it is skipped if there is no sample.
///
/// Throws: NotFound, ValueError for metrics that cannot be made, or have measured already;
/// OptionError for options outside their range.
[[nodiscard]] std::vector<Measurement> measure(const std::vector<Subject>& subjects,
                                               const std::vector<MetricChoice>& metrics = {"time"},
                                               const MeasureOptions& options = {});

/// `measure`, and after the records of each subject but the base the ratio of its time to the
/// base's: "time_ratio", with the condition "base". The base is the first subject that has a time
/// and is not wrong; who is wrong has no ratio.
[[nodiscard]] std::vector<Measurement> measure_side_by_side(
    const std::vector<Subject>& subjects, const std::vector<MetricChoice>& metrics = {"time"},
    const MeasureOptions& options = {});

/// The options of the program that measure so: " --seed 3 --samples 10", and " --metrics a,b" for
/// metrics besides "time". A record's command ends with them.
[[nodiscard]] std::string to_line(const MeasureOptions& options,
                                  const std::vector<MetricChoice>& metrics = {});

/// What `make` makes; if it throws, a subject of `record` that throws the same when it is run, so
/// that its records say why there is no number. Throws: what is bad input as it comes.
[[nodiscard]] Subject subject_or_refusal(const Measurement& record,
                                         const std::function<Subject()>& make);

namespace detail {
/// A misspelt name, a damaged file: no finding about what was to run it.
[[nodiscard]] bool is_bad_input(const std::exception& error);
/// Makes `record` that of a time that was planned and not measured: skipped, or what `plan` threw.
/// Throws: what is bad input as it comes.
void plan_only(Measurement& record, const std::function<void()>& plan);
}  // namespace detail

}  // namespace d5
