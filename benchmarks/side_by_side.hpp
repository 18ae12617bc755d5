// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/measure.hpp"

namespace d5::benchmarks {

/// One of several implementations of the same task.
struct Peer {
  std::string name;
  std::function<Subject()> make;  ///< called when its benchmark begins
};

namespace detail {

/// Throws: Error if the subject's results are wrong; subjects without a judge are not checked.
inline void expect_right(const Subject& subject, Subject::Moment moment) {
  if (!subject.judge) return;
  const Verdict verdict = subject.judge(moment);
  if (verdict.is == Verdict::Is::wrong) throw Error("wrong answers: " + verdict.reason);
}

inline void run_alone(const Peer& peer, benchmark::State& state) {
  const Subject subject = subject_or_refusal({}, peer.make);
  try {
    expect_right(subject, Subject::Moment::before);
    for (auto _ : state) subject.run();
    expect_right(subject, Subject::Moment::after);
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

/// Makes a first run, in which `auto` measures for minutes, outside of the time limit.
inline void prepare(const Subject& subject) {
  try {
    subject.run();
  } catch (const std::exception&) {  // the measurement reports it
  }
}

inline void run_interleaved(const std::vector<Peer>& peers, const MeasureOptions& options,
                            benchmark::State& state) {
  std::vector<Subject> subjects;
  for (const auto& peer : peers) {
    subjects.push_back(subject_or_refusal({}, peer.make));
    subjects.back().record.subject = peer.name;
    prepare(subjects.back());
  }
  std::vector<Measurement> records;
  for (auto _ : state) records = measure_side_by_side(subjects, {"time"}, options);
  for (const auto& record : records) {
    if (record.status == Status::failed) {
      state.SkipWithError((record.subject + ": " + record.reason).c_str());
      return;
    }
    if (record.quantity != Quantity::ratio) continue;
    const auto [ratio, interval, confidence] = estimate(record);
    state.counters[record.subject] = ratio;
    state.counters[record.subject + ".low"] = interval.low;
    state.counters[record.subject + ".high"] = interval.high;
    if (!record.reason.empty()) state.SetLabel(record.reason);
  }
}

}  // namespace detail

/// Registers NAME/PEER for each peer, timed by Google Benchmark, and NAME/ratio, in which d5's
/// engine runs all of them interleaved. Its counters are each peer's time over the first one's,
/// with the ends of the 95% interval. A peer that cannot run is skipped with its reason, and so is
/// a peer with a judge (d5's subjects have one) whose answers are wrong before or after the
/// measurement.
inline void add(const std::string& name, const std::vector<Peer>& peers,
                const MeasureOptions& options = {}) {
  for (const auto& peer : peers) {
    benchmark::RegisterBenchmark((name + "/" + peer.name).c_str(), [peer](benchmark::State& state) {
      detail::run_alone(peer, state);
    });
  }
  benchmark::RegisterBenchmark(
      (name + "/ratio").c_str(),
      [=](benchmark::State& state) { detail::run_interleaved(peers, options, state); })
      ->Iterations(1)
      ->Unit(benchmark::kSecond);
}

}  // namespace d5::benchmarks
