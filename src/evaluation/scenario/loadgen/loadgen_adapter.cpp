// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scenario/loadgen/loadgen_adapter.hpp"

#include <fmt/format.h>
#include <mlperf_loadgen/issue_query_controller.h>
#include <mlperf_loadgen/loadgen.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "d5/evaluation/load/load_clock.hpp"
#include "evaluation/load/nanoseconds.hpp"

namespace d5::detail {
namespace {

/// LoadGen's ids are pointers to its own sample records. It measures latency from their schedule,
/// on a clock that may be set; a query's delay is a difference on that clock.
std::int64_t lateness(mlperf::ResponseId id) {
  const auto* sample = reinterpret_cast<const mlperf::loadgen::SampleMetadata*>(id);
  const auto& query = *sample->query_metadata;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(query.issued_start_time -
                                                              query.scheduled_time)
      .count();
}

std::int64_t next_ids(std::int64_t most) {
  static std::atomic<std::int64_t> next = std::int64_t{1}
                                          << 62;  // differs from other generators' ids
  return next.fetch_add(most);
}

}  // namespace

class LoadGenAdapter::Samples final : public mlperf::QuerySampleLibrary {
 public:
  Samples(SystemUnderTest& system, const ScenarioOptions& options)
      : name_("d5"), system_(system), count_(std::size_t(system.samples())) {
    drawn_ = options.performance_samples > 0
                 ? std::min(count_, std::size_t(options.performance_samples))
                 : count_;
  }
  const std::string& Name() override { return name_; }
  size_t TotalSampleCount() override { return count_; }
  size_t PerformanceSampleCount() override { return drawn_; }
  void LoadSamplesToRam(const std::vector<mlperf::QuerySampleIndex>& samples) override {
    std::set<std::int64_t> loaded(samples.begin(), samples.end());  // LoadGen fills queries up
    const std::vector<std::int64_t> each(loaded.begin(), loaded.end());
    system_.load(each);
  }
  void UnloadSamplesFromRam(const std::vector<mlperf::QuerySampleIndex>&) override {
    system_.unload();
  }

 private:
  std::string name_;
  SystemUnderTest& system_;
  std::size_t count_, drawn_ = 0;
};

class LoadGenAdapter::Asked final : public mlperf::SystemUnderTest {
 public:
  Asked(d5::SystemUnderTest& system, const ScenarioOptions& options,
        const LoadGenAdapter::Options& own)
      : name_(system.name()),
        system_(system),
        keep_(options.mode == ScenarioOptions::Mode::accuracy ? 1 : options.keep_answers),
        patience_(nanoseconds(options.answer_seconds)),
        tells_tokens_(own.tells_tokens),
        ids_(next_ids(own.most_samples)),
        clock_(monotonic_load_clock()),             // sets the slack of this thread, which asks
        log_(own.most_samples, own.most_samples) {  // LoadGen prepares all of them, too
    watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }

  const std::string& Name() override { return name_; }

  void IssueQuery(const std::vector<mlperf::QuerySample>& samples) override {
    const std::int64_t issued = clock_->now(), first = log_.size();
    last_news_ = issued;
    queries_.clear();
    queries_.reserve(samples.size());
    for (const mlperf::QuerySample& sample : samples) {
      const auto index = std::int64_t(sample.index);
      queries_.push_back({.id = ids_ + first + std::int64_t(queries_.size()), .sample = index});
      log_.add(index, issued - lateness(sample.id), issued, sample.id);
    }
    unanswered_ += std::int64_t(samples.size());
    try {
      system_.issue(queries_);
    } catch (const std::exception& error) {  // LoadGen would abort
      refuse(first, error.what(), clock_->now());
    } catch (...) {
      refuse(first, "an exception of unknown type", clock_->now());
    }
  }
  void FlushQueries() override { system_.flush(); }

  void hear(std::span<const QueryAnswer> answers) {
    const std::int64_t now = clock_->now();
    last_news_ = now;
    thread_local std::vector<mlperf::QuerySampleResponse> ends;
    ends.clear();
    ends.reserve(answers.size());
    for (const QueryAnswer& answer : answers) {
      const std::int64_t id = answer.id - ids_;
      if (!log_.answer(id, answer, now, is_in_share(keep_, id))) continue;
      const auto place = reinterpret_cast<std::uintptr_t>(answer.bytes.data());
      const std::int64_t tokens = answer.tokens > 0 ? answer.tokens : log_.tokens(id);
      ends.emplace_back(log_.tag(id), place, answer.bytes.size(), tokens_for_loadgen(id, tokens));
    }
    finish(ends);
  }

  void hear(std::span<const QueryProgress> pieces) {
    const std::int64_t now = clock_->now();
    last_news_ = now;
    for (const QueryProgress& piece : pieces) {
      const std::int64_t id = piece.id - ids_;
      if (log_.progress(id, piece, now)) begin_tokens(id);
    }
  }

  [[nodiscard]] std::int64_t short_answers() const { return short_answers_; }

  [[nodiscard]] Conditions conditions() const { return clock_->conditions(); }

  QueryLog::Closed end() {
    watch_ = {};
    log_.close();
    QueryLog::Closed closed = log_.take();
    closed.unanswered += abandoned_;
    closed.failed -= abandoned_;
    return closed;
  }

 private:
  void begin_tokens(std::int64_t id) {
    if (!tells_tokens_) return;
    mlperf::QuerySampleResponse first(log_.tag(id), 0, 0);
    mlperf::FirstTokenComplete(&first, 1);
  }

  /// The number of tokens of an answer, so that LoadGen goes on: it waits for a first token of each
  /// sample, and divides by the number - 1.
  std::int64_t tokens_for_loadgen(std::int64_t id, std::int64_t tokens) {
    if (!tells_tokens_) return tokens;
    const bool has_begun = log_.tokens(id) > 0;
    if (!has_begun) begin_tokens(id);
    if (has_begun && tokens > 1) return tokens;
    ++short_answers_;
    return 2;
  }

  void finish(std::vector<mlperf::QuerySampleResponse>& ends) {
    if (ends.empty()) return;
    unanswered_ -= std::int64_t(ends.size());
    mlperf::QuerySamplesComplete(ends.data(), ends.size());
  }

  /// With `now` = 0 they count as never ended.
  std::size_t refuse(std::int64_t first, const std::string& reason, std::int64_t now) {
    std::vector<mlperf::QuerySampleResponse> ends;
    for (const std::int64_t id : log_.refuse(first, reason, now)) {
      ends.emplace_back(log_.tag(id), 0, 0, tokens_for_loadgen(id, log_.tokens(id)));
    }
    finish(ends);
    return ends.size();
  }

  /// LoadGen waits for ever for a missing answer.
  void watch(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, std::chrono::milliseconds(20),
                             [&] { return stop.stop_requested(); })) {
      if (unanswered_ <= 0 || clock_->now() - last_news_ < patience_) continue;
      abandoned_ += std::int64_t(refuse(0, "no answer", 0));
    }
  }

  std::string name_;
  d5::SystemUnderTest& system_;
  const double keep_;
  const std::int64_t patience_;
  const bool tells_tokens_;
  const std::int64_t ids_;
  std::shared_ptr<LoadClock> clock_;
  QueryLog log_;
  std::vector<Query> queries_;
  std::atomic<std::int64_t> unanswered_ = 0, last_news_ = 0, abandoned_ = 0, short_answers_ = 0;
  std::jthread watch_;
};

LoadGenAdapter::LoadGenAdapter(SystemUnderTest& system, const ScenarioOptions& scenario,
                               const Options& options)
    : listened_(system),
      asked_(std::make_shared<Asked>(system, scenario, options)),
      samples_(std::make_unique<Samples>(system, scenario)) {
  system.on_complete(
      [asked = asked_](std::span<const QueryAnswer> answers) { asked->hear(answers); },
      [asked = asked_](std::span<const QueryProgress> pieces) { asked->hear(pieces); });
}

LoadGenAdapter::~LoadGenAdapter() { listened_.on_complete({}); }

mlperf::SystemUnderTest& LoadGenAdapter::system() { return *asked_; }
mlperf::QuerySampleLibrary& LoadGenAdapter::library() { return *samples_; }
Conditions LoadGenAdapter::conditions() const {
  auto result = asked_->conditions();
  result["waiting"] = setting("sleeps");  // LoadGen does not poll the clock before a query
  return result;
}

std::int64_t LoadGenAdapter::short_answers() const { return asked_->short_answers(); }

QueryLog::Closed LoadGenAdapter::end() {
  listened_.on_complete({});
  return asked_->end();
}

}  // namespace d5::detail
