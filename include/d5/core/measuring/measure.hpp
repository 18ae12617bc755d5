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

/// Work of one call of a subject; 0 if unknown.
struct Work {
  double flop = 0;
  double bytes = 0;              ///< read and written
  double samples = 0;            ///< samples in a batch
  double memory = 0;             ///< planned peak memory in bytes
  DType dtype = DType::float32;  ///< computing type: selects the machine's peak that bounds it
};

/// Result of the correctness check of a subject's answers.
struct Verdict {
  /// Doubtful: the error is slightly larger than rounding explains. Uncompared: the judge's own
  /// answers carry no information (NaN, a constant), so neither does agreement with them.
  enum class Is { right, doubtful, wrong, unknown, uncompared };
  Is is = Is::unknown;
  std::string judge = {};   ///< source of the expected answers: "reference in float64"
  std::string reason = {};  ///< which answer, its error and the bound; empty for `right`
};

/// Something to measure: how to run it, and what is known before it runs.
struct Subject {
  enum class Moment { before, after };  ///< before the first timed run, after the last
  /// Whether all runs do the same work.
  enum class Life {
    repeatable,
    once,  ///< each run changes it (training): one run without warm-up, shared by all metrics
  };
  Measurement record = {};  ///< subject, command, level, framework, device, conditions, artefacts
  std::function<void()> run = {};
  std::function<void()> prepare = {};      ///< before each run, outside the clock
  std::function<void()> synchronise = {};  ///< waits for a device before the clock is read
  Work work = {};                          ///< work of one call; rates follow the metric "time"
  std::vector<EventList*> events = {};     ///< lists to which metrics that are events are added
  Life life = Life::repeatable;
  /// Correctness check on the timed inputs; may run the subject. Called outside the clock, once
  /// before the first timed run and once after the last. Records of a wrong subject keep their
  /// times and are failed.
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
  std::uint64_t seed = 0;    ///< seed of the random order of subjects
  Interrupt interrupt = {};  ///< ends the measurement, also before the first sample
  /// Called after each of a subject's turns, outside the clock: `samples` times per subject.
  std::function<void()> on_sample = {};

  /// Declares the options once for the program, its help, the commands in records, and Python.
  void declare(OptionList& options);
};

/// Measures every metric on every subject. Records are ordered by subject, then by metric. "time"
/// is followed by the rates of the subject's work: "flop_rate", "byte_rate", "sample_rate". If the
/// machine's peak is known (`machine_peak`), "share_of_peak" follows, with the condition "bound":
/// the roofline's limit, "compute" or "memory". "peak_memory", the memory of the whole process, is
/// followed by "predicted_memory", the subject's planned memory.
///
/// Subjects are interleaved: each round samples all subjects in random order, so that drift of the
/// machine affects all alike. Samples of the same index come from the same round (see `compare`).
/// Metrics share a subject's runs, except metrics that are Events: they run inside the clock, so
/// each has runs of its own.
///
/// Subjects with a judge are checked before and after. The condition "answers" holds the verdict
/// ("right", "doubtful", "wrong", "not judged", "not compared"), the condition "judge" the source
/// of the expected answers. Records of a wrong subject are failed, with the reason
/// (`answers_wrongly`). Records of a doubtful or uncompared one are mistrusted.
///
/// All records of a subject that throws are failed, with its message (`Unsupported`: unsupported).
/// A metric that throws fails its own record only. The other subjects continue. A record is
/// mistrusted, with the reason, for too few samples, too coarse a clock, drifting samples,
/// interference by other work, or an interruption. It is skipped if there is no sample.
///
/// Throws: NotFound, ValueError for metrics that cannot be made or were used before; OptionError
/// for options outside their range.
[[nodiscard]] std::vector<Measurement> measure(const std::vector<Subject>& subjects,
                                               const std::vector<MetricChoice>& metrics = {"time"},
                                               const MeasureOptions& options = {});

/// `measure`, and for each subject except the base a record "time_ratio": its time divided by the
/// base's, with the condition "base". The base is the first subject that has a time and is not
/// wrong. Wrong subjects have no ratio.
[[nodiscard]] std::vector<Measurement> measure_side_by_side(
    const std::vector<Subject>& subjects, const std::vector<MetricChoice>& metrics = {"time"},
    const MeasureOptions& options = {});

/// The program's flags for these options: " --seed 3 --samples 10", and " --metrics a,b" for
/// metrics besides "time". The end of a record's command.
[[nodiscard]] std::string to_line(const MeasureOptions& options,
                                  const std::vector<MetricChoice>& metrics = {});

/// The subject that `make` returns. If `make` throws, a subject with `record` that rethrows the
/// error when it runs, so that its records hold the reason. Throws: errors of bad input directly.
[[nodiscard]] Subject subject_or_refusal(const Measurement& record,
                                         const std::function<Subject()>& make);

namespace detail {
/// Whether `error` reports bad input, such as a misspelt name or a damaged file, rather than a
/// failure of the framework.
[[nodiscard]] bool is_bad_input(const std::exception& error);
/// Turns `record` into a planned time without a measurement: skipped, or failed with the error of
/// `plan`. Throws: errors of bad input directly.
void plan_only(Measurement& record, const std::function<void()>& plan);
}  // namespace detail

}  // namespace d5
