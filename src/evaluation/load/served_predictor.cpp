// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/served_predictor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "core/thread_pool/new_thread.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "evaluation/load/nanoseconds.hpp"

namespace d5 {

/// The queue of waiting queries.
class ServedPredictor::Line {
 public:
  explicit Line(const ServedOptions& options)
      : largest_(std::size_t(options.largest_batch)),
        longest_wait_(detail::nanoseconds(options.longest_wait)) {}

  void add(std::span<const Query> queries) {
    const std::int64_t now = Trace::now_ns();
    {
      const std::lock_guard lock(mutex_);
      for (const Query& query : queries) waiting_.push_back({query, now});
      flushed_ = false;
    }
    changed_.notify_all();
  }
  void flush() {
    {
      const std::lock_guard lock(mutex_);
      flushed_ = true;
    }
    changed_.notify_all();
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  /// The next batch; false once the line is closed.
  bool take(std::vector<Query>& batch) {
    batch.clear();
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (closed_) return false;
      const std::int64_t end = waiting_.front().since + longest_wait_;
      if (waiting_.size() >= largest_ || flushed_ || Trace::now_ns() >= end) break;
      changed_.wait_until(lock, time_of(end));
    }
    const std::size_t count = std::min(largest_, waiting_.size());
    for (std::size_t i = 0; i < count; ++i) batch.push_back(waiting_[i].query);
    waiting_.erase(waiting_.begin(), waiting_.begin() + std::ptrdiff_t(count));
    return true;
  }
  /// The queries left once no thread takes any more.
  std::vector<Query> left() {
    std::vector<Query> queries;
    for (const Waiting& waiting : waiting_) queries.push_back(waiting.query);
    return queries;
  }

  std::vector<std::thread> threads;

 private:
  struct Waiting {
    Query query;
    std::int64_t since;
  };
  static std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds> time_of(
      std::int64_t ns) {
    return std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>(
        std::chrono::nanoseconds(ns));
  }

  const std::size_t largest_;
  const std::int64_t longest_wait_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool flushed_ = false, closed_ = false;
};

ServedPredictor::ServedPredictor(std::string name, std::int64_t samples, const Open& open,
                                 const ServedOptions& options)
    : name_(std::move(name)), samples_(samples) {
  if (options.instances < 1 || options.largest_batch < 1 || !(options.longest_wait >= 0) ||
      !std::isfinite(options.longest_wait)) {
    throw ValueError(fmt::format(
        "{}: {} instances, batches of up to {}, a wait of {} s; expected 1 or more, 1 or more, 0 "
        "or "
        "more",
        printable(name_), options.instances, options.largest_batch, options.longest_wait));
  }
  line_ = std::make_unique<Line>(options);
  try {
    for (int i = 0; i < options.instances; ++i) begin(open, i);
  } catch (...) {
    end();
    throw;
  }
}

void ServedPredictor::begin(const Open& open, int instance) {
  auto opened = std::make_shared<std::promise<void>>();
  std::future<void> is_open = opened->get_future();
  line_->threads.push_back(detail::new_thread<std::thread>(name_, [this, open, instance, opened] {
    AnswerBatch answer;
    try {
      answer = open(instance);
    } catch (...) {
      return opened->set_exception(std::current_exception());
    }
    opened->set_value();
    serve(answer);
  }));
  is_open.get();
}

void ServedPredictor::end() {
  line_->close();
  for (std::thread& thread : line_->threads) thread.join();
}

ServedPredictor::~ServedPredictor() {
  end();
  for (const Query& query : line_->left()) {
    complete({{.id = query.id, .status = Status::failed, .reason = "it was closed"}});
  }
}

std::string ServedPredictor::name() const { return name_; }
std::int64_t ServedPredictor::samples() const { return samples_; }
void ServedPredictor::issue(std::span<const Query> queries) { line_->add(queries); }
void ServedPredictor::flush() { line_->flush(); }

void ServedPredictor::serve(const AnswerBatch& answer) {
  std::vector<Query> batch;
  std::vector<std::int64_t> samples;
  std::vector<QueryAnswer> answers;
  while (line_->take(batch)) {
    samples.clear();
    for (const Query& query : batch) samples.push_back(query.sample);
    const std::int64_t begun = Trace::now_ns();
    BatchAnswers bytes;
    std::string fault;
    try {
      bytes = answer(samples);
      if (bytes.size() != batch.size()) {
        fault = fmt::format("{} answers to {} samples", bytes.size(), batch.size());
      }
    } catch (const std::exception& error) {
      fault = error.what();
    } catch (...) {
      fault = "an exception of unknown type";
    }
    answers.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      QueryAnswer& one = answers.emplace_back();
      one.id = batch[i].id;
      one.begun = begun;
      one.batch = std::int32_t(batch.size());
      if (fault.empty()) {
        one.bytes = bytes[i];
      } else {
        one.status = Status::failed;
        one.reason = fault;
      }
    }
    complete(answers);
  }
}

}  // namespace d5
