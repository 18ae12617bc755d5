// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/cold_cache.hpp"
#include "core/machine.hpp"
#include "core/other_work.hpp"
#include "core/trust.hpp"
#include "d5/core/error.hpp"
#include "d5/core/random.hpp"
#include "d5/core/threads.hpp"

namespace d5 {

std::string_view name_of(Status status) {
  constexpr std::array<std::string_view, 5> names = {"passed", "failed", "mistrusted", "skipped",
                                                     "unsupported"};
  return names.at(std::size_t(status));
}

/// Takes metrics into one measurement, and refuses those that have been in one.
class MetricSession {
 public:
  explicit MetricSession(std::vector<std::shared_ptr<Metric>> metrics)
      : metrics_(std::move(metrics)) {
    for (const auto& metric : metrics_) {
      if (!metric) throw ValueError("measure: a metric is null");
      if (metric->used_) {
        throw ValueError(fmt::format(
            "metric '{}' has measured already, and would mix its samples; make a new one",
            printable(metric->name())));
      }
      metric->used_ = true;
    }
  }
  [[nodiscard]] const std::vector<std::shared_ptr<Metric>>& metrics() const { return metrics_; }
  void begin(int repetitions) {
    for (const auto& metric : metrics_) metric->begin(repetitions);
  }
  void end() {
    std::for_each(metrics_.rbegin(), metrics_.rend(), [](const auto& metric) { metric->end(); });
  }
  void sample(double seconds) {
    for (const auto& metric : metrics_) metric->sample(seconds);
  }

 private:
  std::vector<std::shared_ptr<Metric>> metrics_;
};

namespace {

void check(const MeasureOptions& options) {
  if (options.samples < 1 || options.warmup < 0 || !(options.seconds_per_sample >= 0) ||
      !(options.most_seconds > 0)) {
    throw ValueError(fmt::format(
        "measure: samples is {}, warmup {}, seconds_per_sample {}, most_seconds {}; expected at "
        "least 1, 0, 0 and more than 0",
        options.samples, options.warmup, options.seconds_per_sample, options.most_seconds));
  }
}

/// Seconds that `repetitions` calls take, one after the other.
double time_run(const Subject& subject, int repetitions) {
  if (subject.synchronise) subject.synchronise();  // earlier work of the device is not ours
  // The clock starts. Inside: the calls through std::function (about 1 ns each), the wait for the
  // device, and one reading of the clock (`clock_cost`). Nothing else.
  const double begin = now_seconds();
  for (int i = 0; i < repetitions; ++i) subject.run();
  if (subject.synchronise) subject.synchronise();
  const double end = now_seconds();
  // The clock has stopped.
  return end - begin;
}

/// One subject on its way through warm-up, calibration and samples.
class Runner {
 public:
  Runner(const Subject& subject, const MeasureOptions& options, detail::ColdCache* cold_cache)
      : subject_(subject), options_(options), cold_cache_(cold_cache) {}

  /// Warm-up, then the number of calls in one sample: doubled until they last long enough.
  void start(double deadline) {
    for (; warmups_ < options_.warmup && (warmups_ == 0 || now_seconds() < deadline); ++warmups_) {
      prepare();
      time_run(subject_, 1);
    }
    if (cold_cache_) return;
    constexpr int kMost = 1 << 28;
    while (repetitions_ < kMost) {
      prepare();
      const double seconds = time_run(subject_, repetitions_);
      if (seconds >= options_.seconds_per_sample || now_seconds() > deadline) break;
      repetitions_ *= 2;
    }
  }

  /// After another subject has run: waits until its idle threads no longer spin on the cores that
  /// this one needs (an OpenMP runtime's do so for some milliseconds, and two frameworks bring two
  /// runtimes), then warms up again. The wait is busy, so that the processor keeps its frequency.
  void settle() {
    constexpr double kSpinSeconds = 0.02, kLongSeconds = 0.01;
    const double begin = now_seconds();
    while (now_seconds() - begin < kSpinSeconds) continue;
    if (shortest_ > kLongSeconds && std::isfinite(shortest_)) return;  // it warms up by itself
    prepare();
    time_run(subject_, repetitions_);
  }

  /// Seconds of one call in a fresh sample.
  double sample(MetricSession* session = nullptr) {
    prepare();
    if (session) session->begin(repetitions_);
    const double seconds = time_run(subject_, repetitions_);
    if (session) session->end();
    shortest_ = std::min(shortest_, seconds);
    return seconds / repetitions_;
  }

  /// What was fixed, and what the clock says about it.
  void describe(Measurement& result) const {
    result.subject = subject_.name;
    result.conditions["cache"] = cold_cache_ ? "cold" : "hot";
    result.conditions["repetitions"] = fmt::format("{}", repetitions_);
    result.conditions["warmup"] = fmt::format("{}", warmups_);
    result.conditions["threads"] = fmt::format("{}", threads());
    result.conditions["pinning"] = pinning();
  }
  [[nodiscard]] double shortest_seconds() const { return shortest_; }

 private:
  void prepare() {
    if (subject_.prepare) subject_.prepare();
    if (cold_cache_) cold_cache_->evict();
  }

  const Subject& subject_;
  const MeasureOptions& options_;
  detail::ColdCache* cold_cache_;
  int repetitions_ = 1;
  int warmups_ = 0;
  double shortest_ = std::numeric_limits<double>::infinity();
};

struct Failure {
  Status status;
  std::string reason;
};

/// Calls `body`; what it throws becomes the answer.
template <class F>
std::optional<Failure> attempt(F&& body) {
  try {
    body();
    return std::nullopt;
  } catch (const Unsupported& error) {
    return Failure{Status::unsupported, error.what()};
  } catch (const std::exception& error) {
    return Failure{Status::failed, error.what()};
  } catch (...) {
    return Failure{Status::failed, "an exception of a type that d5 does not know"};
  }
}

void fail(Measurement& result, const Failure& failure) {
  result.status = failure.status;
  result.reason = failure.reason.empty() ? "no message" : failure.reason;
}

bool is_timing(const Measurement& result) {
  return result.unit == "s" || result.unit.ends_with("/s");
}

void judge_time(Measurement& result, const Runner& runner, std::optional<double> others) {
  detail::judge_clock(result, runner.shortest_seconds());
  if (others) {
    detail::judge_other_work(result, *others, threads(), detail::machine().hardware_threads);
  }
}

}  // namespace

std::vector<Measurement> measure(const Subject& subject,
                                 std::vector<std::shared_ptr<Metric>> metrics,
                                 const MeasureOptions& options) {
  check(options);
  MetricSession session(std::move(metrics));
  int runs = 1;
  for (const auto& metric : session.metrics()) {
    runs =
        std::max(runs, metric->reruns() == Metric::kAsAsked ? options.samples : metric->reruns());
  }
  std::optional<detail::ColdCache> cold_cache;
  if (options.cold_cache) cold_cache.emplace();
  Runner runner(subject, options, cold_cache ? &*cold_cache : nullptr);
  const double deadline = now_seconds() + options.most_seconds;
  std::optional<detail::OtherWork> other_work;
  const auto failure = attempt([&] {
    runner.start(deadline);
    other_work.emplace();
    for (int i = 0; i < runs && (i == 0 || now_seconds() < deadline); ++i) {
      session.sample(runner.sample(&session));
    }
  });
  const auto others = failure ? std::nullopt : other_work->processors();
  std::vector<Measurement> results;
  for (const auto& metric : session.metrics()) {
    Measurement& result = results.emplace_back();
    runner.describe(result);
    result.metric = metric->name();
    result.unit = metric->unit();
    result.direction = metric->direction();
    if (failure) {
      fail(result, *failure);
    } else if (const auto own = attempt([&] { metric->summarise(result); })) {
      fail(result, *own);
    } else {
      detail::judge_samples(result, metric->reruns());
      if (is_timing(result)) judge_time(result, runner, others);
    }
  }
  return results;
}

std::vector<Measurement> measure_interleaved(const std::vector<Subject>& subjects,
                                             const MeasureOptions& options, std::uint64_t seed) {
  check(options);
  std::optional<detail::ColdCache> cold_cache;
  if (options.cold_cache) cold_cache.emplace();
  std::vector<Runner> runners;
  std::vector<Measurement> results(subjects.size());
  std::vector<std::optional<Failure>> failures(subjects.size());
  std::vector<std::int64_t> order;
  const double deadline = now_seconds() + options.most_seconds;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    runners.emplace_back(subjects[i], options, cold_cache ? &*cold_cache : nullptr);
    order.push_back(std::int64_t(i));
    results[i].samples.reserve(std::size_t(options.samples));
    failures[i] = attempt([&] { runners[i].start(deadline); });
  }
  const detail::OtherWork other_work;
  RandomStream random(seed, stream_of("measure_interleaved"));
  for (int round = 0; round < options.samples && (round == 0 || now_seconds() < deadline);
       ++round) {
    random.shuffle(order);
    for (const std::int64_t index : order) {
      const auto i = std::size_t(index);
      if (failures[i]) continue;
      failures[i] = attempt([&] {
        if (subjects.size() > 1) runners[i].settle();
        results[i].samples.push_back(runners[i].sample());
      });
    }
  }
  const auto others = other_work.processors();
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    Measurement& result = results[i];
    runners[i].describe(result);
    result.metric = "time";
    result.unit = "s";
    result.conditions["interleaved"] = fmt::format("{} subjects, seed {}", subjects.size(), seed);
    if (failures[i]) {
      fail(result, *failures[i]);
    } else {
      detail::judge_samples(result, Metric::kAsAsked);
      judge_time(result, runners[i], others);
    }
  }
  return results;
}

}  // namespace d5
