// SPDX-License-Identifier: Apache-2.0
#include "d5/core/trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <deque>
#include <iterator>
#include <mutex>

#include "core/text/virtual_clock.hpp"
#include "core/trace/thread_trace.hpp"
#include "d5/core/error.hpp"

namespace d5 {
namespace {

constexpr std::size_t kLongestText = 200;
constexpr std::size_t kMostArguments = 16;

struct State {
  std::mutex mutex;
  TraceOptions options;
  std::deque<TraceRecord> records;
  std::uint64_t dropped = 0;
  std::vector<std::string> lanes;
  std::vector<int> free_lanes;  // of threads that have ended
  std::vector<std::function<void()>> at_stop;
};
/// Never destroyed: threads may end after the program's static objects.
State& state() {
  static State& s = *new State;
  return s;
}

std::atomic<std::uint64_t> last_id = 0;
thread_local detail::ThreadTrace thread_trace;

int new_lane(const std::string& name) {
  state().lanes.push_back(name);
  return static_cast<int>(state().lanes.size()) - 1;
}

/// A thread's lane, which the next thread inherits: as many lanes as threads at one time.
class ThreadLane {
 public:
  ThreadLane() {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.free_lanes.empty()) {
      number = new_lane(fmt::format("thread {}", s.lanes.size()));
    } else {
      number = s.free_lanes.back();
      s.free_lanes.pop_back();
    }
  }
  ~ThreadLane() {
    const std::lock_guard lock(state().mutex);
    state().free_lanes.push_back(number);
  }
  ThreadLane(const ThreadLane&) = delete;
  ThreadLane& operator=(const ThreadLane&) = delete;

  int number;
};

int lane_of_this_thread() {
  if (thread_trace.lane >= 0) return thread_trace.lane;
  thread_local const ThreadLane mine;
  return mine.number;
}

void cut(std::string& text) {
  if (text.size() > kLongestText) text = text.substr(0, kLongestText) + "...";
}

/// A model may hold names of any length, but memory is bounded by the number of records alone.
void cut(TraceRecord& record) {
  cut(record.level);
  cut(record.name);
  if (record.arguments.size() > kMostArguments) record.arguments.resize(kMostArguments);
  for (auto& [name, value] : record.arguments) {
    cut(name);
    if (auto* text = std::get_if<std::string>(&value)) cut(*text);
  }
}

void close(std::uint64_t id) {
  // What an exception left open above it closes too.
  auto& open_spans = thread_trace.open_spans;
  const auto place = std::ranges::find(open_spans, id);
  open_spans.erase(place, open_spans.end());
}

}  // namespace

std::atomic<bool> Trace::on_ = false;

void Trace::start(const TraceOptions& options) {
  if (options.rank < 0 || options.most_records < 1) {
    throw ValueError(
        fmt::format("trace: rank {} with {} records; expected a rank from 0 and room "
                    "for one record at least",
                    options.rank, options.most_records));
  }
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.options = options;
  s.records.clear();
  s.dropped = 0;
  s.at_stop.clear();
  on_ = true;
}

void Trace::stop() {
  std::vector<std::function<void()>> listeners;
  {
    const std::lock_guard lock(state().mutex);
    listeners.swap(state().at_stop);
  }
  for (const auto& listener : listeners) listener();
  on_ = false;
}

void Trace::at_stop(std::function<void()> listener) {
  const std::lock_guard lock(state().mutex);
  if (on()) state().at_stop.push_back(std::move(listener));
}

std::int64_t Trace::now_ns() {
  if (const auto clock = detail::virtual_clock_of_thread()) {
    return static_cast<std::int64_t>(std::llround(clock() * 1e9));
  }
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int Trace::lane(std::string_view name) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto place = std::ranges::find(s.lanes, name);
  return place == s.lanes.end() ? new_lane(std::string(name))
                                : static_cast<int>(place - s.lanes.begin());
}

std::uint64_t Trace::current() {
  const auto& open = thread_trace.open_spans;
  return open.empty() ? 0 : open.back();
}

std::uint64_t Trace::add(TraceRecord record, std::int64_t clock_offset_ns) {
  if (!on()) return 0;
  if (record.id == 0 && record.kind != TraceRecord::Kind::counter) record.id = ++last_id;
  if (record.lane == TraceRecord::kMine) record.lane = lane_of_this_thread();
  record.begin_ns += clock_offset_ns;
  record.end_ns += clock_offset_ns;
  cut(record);
  const std::uint64_t id = record.id;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (record.rank == TraceRecord::kMine) record.rank = s.options.rank;
  if (s.records.size() == s.options.most_records) {
    s.records.pop_front();
    ++s.dropped;
  }
  s.records.push_back(std::move(record));
  return id;
}

void Trace::add_count(std::string_view level, std::string_view name, double value) {
  const std::int64_t now = now_ns();
  add({.kind = TraceRecord::Kind::counter,
       .begin_ns = now,
       .end_ns = now,
       .level = std::string(level),
       .name = std::string(name),
       .arguments = {{"value", value}}});
}

Timeline Trace::timeline() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Timeline timeline;
  timeline.ranks.push_back({.rank = s.options.rank, .host = host.data(), .dropped = s.dropped});
  timeline.records.assign(s.records.begin(), s.records.end());
  for (const auto& record : timeline.records) {
    const auto known = [&](const auto& row) { return row.rank == record.rank; };
    if (std::ranges::none_of(timeline.ranks, known)) {
      timeline.ranks.push_back({.rank = record.rank});
    }
    const auto same = [&](const TraceLane& lane) {
      return lane.rank == record.rank && lane.number == record.lane;
    };
    if (std::ranges::none_of(timeline.lanes, same)) {
      const auto number = static_cast<std::size_t>(record.lane);
      timeline.lanes.push_back(
          {record.rank, record.lane,
           number < s.lanes.size() ? s.lanes[number] : fmt::format("lane {}", record.lane)});
    }
  }
  timeline.sort();
  return timeline;
}

void Span::begin(std::string_view level, std::string_view name) {
  record_ = std::make_unique<TraceRecord>();
  record_->level = level;
  record_->name = name;
  record_->id = ++last_id;
  record_->parent = Trace::current();
  thread_trace.open_spans.push_back(record_->id);
  record_->begin_ns = Trace::now_ns();
}

void Span::end() {
  record_->end_ns = Trace::now_ns();
  close(record_->id);
  Trace::add(std::move(*record_));
}

void Span::discard() {
  if (!record_) return;
  close(record_->id);
  record_.reset();
}

detail::ThreadTrace& detail::trace_of_thread() { return thread_trace; }

}  // namespace d5
