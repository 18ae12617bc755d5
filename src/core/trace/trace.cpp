// SPDX-License-Identifier: Apache-2.0
#include "d5/core/trace/trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "core/clocks/virtual_clock.hpp"
#include "core/trace/packed_record.hpp"
#include "core/trace/record_log.hpp"
#include "core/trace/thread_trace.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using detail::PackedRecord;

struct State {
  std::mutex mutex;
  TraceOptions options;
  detail::RecordLog records;
  std::uint64_t dropped = 0;
  std::vector<std::string> lanes;
  std::vector<int> free_lanes;  // lanes of ended threads
  std::vector<std::function<void()>> at_stop;
  /// Levels of all traces, because a concurrent comparison may use an earlier one.
  std::set<std::string, std::less<>> only_levels;
};
/// Never destroyed: threads may end after the program's static objects.
State& state() {
  static State& s = *new State;
  return s;
}

std::atomic<std::uint64_t> last_id = 0;
std::atomic<const std::string*> only_level = nullptr;
thread_local detail::ThreadTrace thread_trace;

/// Unused records of this thread, whose memory later records reuse.
class SpareRecords {
 public:
  SpareRecords() = default;
  ~SpareRecords() {
    while (first_) delete take();
  }
  SpareRecords(const SpareRecords&) = delete;
  SpareRecords& operator=(const SpareRecords&) = delete;

  PackedRecord* take() {
    if (!first_) return new PackedRecord;
    --count_;
    return std::exchange(first_, first_->next);
  }
  void give(PackedRecord* record) {
    if (count_ == kMost) {  // spans may end on another thread than they begin on
      delete record;
      return;
    }
    record->next = std::exchange(first_, record);
    ++count_;
  }

 private:
  static constexpr int kMost = 64;
  PackedRecord* first_ = nullptr;
  int count_ = 0;
};
thread_local SpareRecords spare_records;

int new_lane(const std::string& name) {
  state().lanes.push_back(name);
  return static_cast<int>(state().lanes.size()) - 1;
}

/// A thread's lane. A later thread reuses it, so there are as many lanes as concurrent threads.
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

/// Adds the record to the trace, unless that has ended or takes another level; its memory is then
/// reused.
void keep(PackedRecord* record) {
  if (Trace::on() || Trace::takes(record->level())) {
    PackedRecord::Head& head = record->head;
    if (head.lane == TraceRecord::kMine) head.lane = lane_of_this_thread();
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (head.rank == TraceRecord::kMine) head.rank = s.options.rank;
    if (s.records.size() == s.options.most_records) {
      s.records.drop_oldest();
      ++s.dropped;
    }
    s.records.add(*record);
  }
  spare_records.give(record);
}

void close(std::uint64_t id) {
  // Also closes inner spans that an exception left open.
  auto& open_spans = thread_trace.open_spans;
  const auto place = std::ranges::find(open_spans, id);
  open_spans.erase(place, open_spans.end());
}

}  // namespace

std::atomic<Trace::Taken> Trace::taken_ = Taken::nothing;

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
  if (options.only_level.empty()) {
    taken_ = Taken::every_level;
  } else {
    only_level = &*s.only_levels.insert(options.only_level).first;
    taken_ = Taken::one_level;
  }
}

void Trace::stop() {
  std::vector<std::function<void()>> listeners;
  {
    const std::lock_guard lock(state().mutex);
    listeners.swap(state().at_stop);
  }
  for (const auto& listener : listeners) listener();
  taken_ = Taken::nothing;
}

bool Trace::is_only(std::string_view level) {
  const std::string* only = only_level;
  return only && *only == level;
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

std::uint64_t Trace::add(const TraceRecord& record, std::int64_t clock_offset_ns) {
  if (!takes(record.level)) return 0;
  PackedRecord* packed = spare_records.take();
  packed->pack(record);
  PackedRecord::Head& head = packed->head;
  if (head.id == 0 && head.kind != TraceRecord::Kind::counter) head.id = ++last_id;
  head.begin_ns += clock_offset_ns;
  head.end_ns += clock_offset_ns;
  const std::uint64_t id = head.id;
  keep(packed);
  return id;
}

void Trace::add_count(std::string_view level, std::string_view name, double value) {
  PackedRecord* packed = spare_records.take();
  packed->begin(level, name);
  packed->argument("value", value);
  packed->head.kind = TraceRecord::Kind::counter;
  packed->head.begin_ns = packed->head.end_ns = now_ns();
  keep(packed);
}

Timeline Trace::timeline() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Timeline timeline;
  timeline.ranks.push_back({.rank = s.options.rank, .host = host.data(), .dropped = s.dropped});
  timeline.records = s.records.records();
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
  record_ = spare_records.take();
  record_->begin(level, name);
  PackedRecord::Head& head = record_->head;
  head.id = ++last_id;
  head.parent = Trace::current();
  thread_trace.open_spans.push_back(head.id);
  head.begin_ns = Trace::now_ns();
}

void Span::put(std::string_view name, std::int64_t value) { record_->argument(name, value); }
void Span::put(std::string_view name, double value) { record_->argument(name, value); }
void Span::put(std::string_view name, std::string_view value) { record_->argument(name, value); }

void Span::end() {
  record_->head.end_ns = Trace::now_ns();
  close(record_->head.id);
  keep(record_);
}

void Span::discard() {
  if (!record_) return;
  close(record_->head.id);
  spare_records.give(std::exchange(record_, nullptr));
}

detail::ThreadTrace& detail::trace_of_thread() { return thread_trace; }

}  // namespace d5
