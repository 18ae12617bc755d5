// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>

#include "core/machine/machine.hpp"
#include "core/machine/thread_waits.hpp"
#include "core/measuring/answer_verdict.hpp"
#include "core/measuring/subject_runner.hpp"
#include "core/measuring/trust.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/ratio.hpp"
#include "d5/core/tensor/random.hpp"

namespace d5 {
namespace {

using detail::MetricRuns;

/// Calls `body` and returns its exception. Rethrows Interrupted, which is not a failure.
template <class F>
std::exception_ptr attempt(F&& body) {
  try {
    body();
    return nullptr;
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    return std::current_exception();
  }
}

/// A subject with its metrics and its state.
struct Lane {
  Lane(const Subject& subject, const std::vector<MetricChoice>& choices,
       const MeasureOptions& options, detail::ColdCache* cold_cache)
      : once(subject.life == Subject::Life::once),
        metrics(detail::make_metrics(subject, choices)),
        runner(subject, options, cold_cache),
        answers(subject, options) {}

  /// Its runs in one round.
  void take_turn(int round, int as_asked) {
    for (auto& group : metrics.groups) {
      if (round < group.reruns(as_asked)) runner.sample(group);
    }
  }
  [[nodiscard]] int rounds(int as_asked) const {
    int most = 0;
    for (const auto& group : metrics.groups) most = std::max(most, group.reruns(as_asked));
    return once ? std::min(most, 1) : most;
  }

  bool once;
  detail::SubjectMetrics metrics;
  detail::SubjectRunner runner;
  detail::AnswerVerdict answers;
  detail::ThreadWaits waits;  ///< while it runs
  std::exception_ptr failure;
};

/// Judges all subjects that have not failed.
void judge(std::vector<Lane>& lanes, Subject::Moment moment) {
  for (auto& lane : lanes) {
    if (lane.failure) continue;
    lane.failure = attempt([&] { lane.answers.ask(moment); });
  }
}

/// Runs rounds until `deadline`. The waits of a single subject's threads are read only at the begin
/// and the end, because its samples may be shorter than a reading.
void take_samples(std::vector<Lane>& lanes, const MeasureOptions& options,
                  std::vector<std::int64_t>& order, int rounds, double deadline,
                  detail::MachineWatch& watch) {
  using Span = detail::ThreadWaits::Span;
  std::optional<Span> whole;
  if (lanes.size() == 1) whole.emplace(lanes.front().waits);
  RandomStream random(options.seed, stream_of("measure"));
  for (int round = 0; round < rounds && (round == 0 || now_seconds() < deadline); ++round) {
    random.shuffle(order);
    for (const std::int64_t index : order) {
      Lane& lane = lanes[std::size_t(index)];
      if (lane.failure || round >= lane.rounds(options.samples)) continue;
      watch.look();
      lane.failure = attempt([&] {
        if (!whole) lane.runner.settle();
        std::optional<Span> turn;
        if (!whole) turn.emplace(lane.waits);
        lane.take_turn(round, options.samples);
      });
      if (options.on_sample) options.on_sample();
    }
  }
}

/// Runs all subjects, round by round. `watch` begins with the samples. Throws: Interrupted.
void run_rounds(std::vector<Lane>& lanes, const MeasureOptions& options,
                std::optional<detail::MachineWatch>& watch) {
  judge(lanes, Subject::Moment::before);
  const double deadline = now_seconds() + options.most_seconds;
  std::vector<std::int64_t> order;
  int rounds = 0;
  for (auto& lane : lanes) {
    order.push_back(std::int64_t(order.size()));
    rounds = std::max(rounds, lane.rounds(options.samples));
    if (!lane.failure) lane.failure = attempt([&] { lane.runner.start(deadline); });
  }
  take_samples(lanes, options, order, rounds, deadline, watch.emplace());
  judge(lanes, Subject::Moment::after);
}

/// The record of a metric on a subject, before it is judged.
Measurement describe(const Lane& lane, const MetricRuns& group, const Metric& metric) {
  Measurement result = lane.runner.record();
  result.metric = metric.name();
  result.unit = metric.unit();
  result.quantity = metric.quantity();
  result.direction = metric.direction();
  result.statistic = metric.statistic();
  result.over_ranks = metric.over_ranks();
  result.status = Status::passed;
  if (group.begun()) {
    if (const auto own = attempt([&] { metric.summarise(result); })) record_failure(result, own);
  }
  if (lane.failure) record_failure(result, lane.failure);
  lane.answers.tell(result);
  return result;
}

/// The records of a subject, and the machine's evidence.
struct SubjectRecords {
  std::vector<Measurement> records;
  std::vector<int> reruns;  ///< number of runs that each record's metric wants
  detail::MachineEvidence seen;

  /// Applies doubts about the moment of measurement to all records.
  void judge_moment() {
    for (std::size_t i = 0; i < records.size(); ++i) {
      detail::judge_moment(records[i], reruns[i], seen);
    }
  }
};

/// The records, metric by metric, before `judge_moment`.
SubjectRecords records_of(const Lane& lane, const MeasureOptions& options,
                          const std::string& interruption, std::size_t subjects) {
  SubjectRecords all;
  for (const auto& [group_index, metric_index] : lane.metrics.order) {
    const MetricRuns& group = lane.metrics.groups[group_index];
    const Metric& metric = *group.metrics()[metric_index];
    Measurement& record = all.records.emplace_back(describe(lane, group, metric));
    all.reruns.push_back(metric.reruns());
    if (subjects > 1) {
      record.conditions["interleaved"] =
          finding(fmt::format("{} subjects, seed {}", subjects, options.seed));
    }
    detail::judge_presence(record, interruption);
    detail::judge_count(record, metric.reruns());
    if (record.quantity != Quantity::time && record.quantity != Quantity::rate) continue;
    detail::judge_clock(record, lane.runner.shortest_seconds());
  }
  return all;
}

/// The records, subject by subject.
std::vector<SubjectRecords> measure_each(const std::vector<Subject>& subjects,
                                         const std::vector<MetricChoice>& metrics,
                                         const MeasureOptions& options) {
  (void)options_of(options);  // throws if out of range
  std::optional<detail::ColdCache> cold_cache;
  if (options.cold_cache) cold_cache.emplace();
  std::vector<Lane> lanes;
  for (const Subject& subject : subjects) {
    lanes.emplace_back(subject, metrics, options, cold_cache ? &*cold_cache : nullptr);
  }
  std::optional<detail::MachineWatch> watch;
  bool interrupted = false;
  try {
    run_rounds(lanes, options, watch);
  } catch (const Interrupted&) {
    interrupted = true;
  }
  std::vector<SubjectRecords> results;
  for (const Lane& lane : lanes) {
    // A subject that runs once ends by itself when interrupted.
    const bool cut_short = interrupted || (lane.once && options.interrupt.due());
    results.push_back(
        records_of(lane, options, cut_short ? options.interrupt.reason() : "", subjects.size()));
    if (watch) results.back().seen = watch->evidence(lane.waits.sum());
  }
  return results;
}

const Measurement* time_in(const std::vector<Measurement>& records) {
  const auto place = std::ranges::find(records, "time", &Measurement::metric);
  return place == records.end() || place->samples.empty() ? nullptr : &*place;
}

std::vector<Measurement> joined(std::vector<SubjectRecords> lists) {
  std::vector<Measurement> all;
  for (auto& [records, reruns, seen] : lists) {
    all.insert(all.end(), std::make_move_iterator(records.begin()),
               std::make_move_iterator(records.end()));
  }
  return all;
}

/// A subject that rethrows the present exception.
Subject refusal(const Measurement& record) {
  return {.record = record,
          .run = [why = std::current_exception()] { std::rethrow_exception(why); }};
}

}  // namespace

std::vector<Measurement> measure(const std::vector<Subject>& subjects,
                                 const std::vector<MetricChoice>& metrics,
                                 const MeasureOptions& options) {
  auto lists = measure_each(subjects, metrics, options);
  for (auto& list : lists) list.judge_moment();
  return joined(std::move(lists));
}

std::vector<Measurement> measure_side_by_side(const std::vector<Subject>& subjects,
                                              const std::vector<MetricChoice>& metrics,
                                              const MeasureOptions& options) {
  auto lists = measure_each(subjects, metrics, options);
  std::optional<Measurement> base;
  detail::MachineEvidence seen_of_base;
  for (auto& list : lists) {
    const Measurement* const time = time_in(list.records);
    std::optional<Measurement> ratio;
    if (time && base) {
      ratio = ratio_record(*time, *base);
      detail::judge_shared_moment(*ratio, list.seen, seen_of_base);
    } else if (time && !answers_wrongly(*time)) {
      base = *time;
      seen_of_base = list.seen;
    }
    list.judge_moment();
    if (ratio) list.records.push_back(std::move(*ratio));
  }
  return joined(std::move(lists));
}

Subject subject_or_refusal(const Measurement& record, const std::function<Subject()>& make) {
  try {
    return make();
  } catch (const std::exception& error) {
    if (detail::is_bad_input(error)) throw;
    return refusal(record);
  } catch (...) {
    return refusal(record);
  }
}

bool detail::is_bad_input(const std::exception& error) {
  return dynamic_cast<const NotFound*>(&error) || dynamic_cast<const FormatError*>(&error) ||
         dynamic_cast<const IoError*>(&error);
}

void detail::plan_only(Measurement& record, const std::function<void()>& plan) {
  record.metric = "time";
  record.unit = "s";
  record.quantity = Quantity::time;
  record.status = Status::skipped;
  record.reason = "planned, not run";
  try {
    plan();
  } catch (const std::exception& error) {
    if (is_bad_input(error)) throw;
    record_failure(record, std::current_exception());
  } catch (...) {
    record_failure(record, std::current_exception());
  }
}

}  // namespace d5
