// SPDX-License-Identifier: Apache-2.0
#include "d5/core/trace.hpp"

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "d5/core/atomic_file.hpp"

namespace d5 {
namespace {

struct Event {
  std::string category, name;
  std::int64_t begin_ns, end_ns;
};

/// What one thread collected. Its lock is taken by others only to start and to write.
struct Lane {
  std::mutex mutex;
  int number = 0;
  std::vector<Event> events;
};

struct State {
  std::mutex mutex;
  std::vector<std::shared_ptr<Lane>> lanes;  // outlive their threads
  int rank = 0;
};
State& state() {
  static State s;
  return s;
}

Lane& lane() {
  thread_local const std::shared_ptr<Lane> mine = [] {
    auto made = std::make_shared<Lane>();
    const std::lock_guard lock(state().mutex);
    made->number = int(state().lanes.size());
    state().lanes.push_back(made);
    return made;
  }();
  return *mine;
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void Trace::start() {
  const std::lock_guard lock(state().mutex);
  for (const auto& lane : state().lanes) {
    const std::lock_guard lane_lock(lane->mutex);
    lane->events.clear();
  }
  on_ = true;
}

void Trace::stop() { on_ = false; }

std::int64_t Trace::now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Trace::add_span(std::string_view category, std::string_view name, std::int64_t begin_ns,
                     std::int64_t end_ns) {
  if (!on()) return;
  Lane& mine = lane();
  const std::lock_guard lock(mine.mutex);
  mine.events.push_back({std::string(category), std::string(name), begin_ns, end_ns});
}

void Trace::set_rank(int rank) {
  const std::lock_guard lock(state().mutex);
  state().rank = rank;
}

void Trace::write(const std::string& path) {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  {
    const std::lock_guard lock(state().mutex);
    const int rank = state().rank;
    fmt::format_to(
        std::back_inserter(text),
        R"({{"ph": "M", "name": "process_name", "pid": {0}, "args": {{"name": "rank {0}"}}}})",
        rank);
    for (const auto& lane : state().lanes) {
      const std::lock_guard lane_lock(lane->mutex);
      for (const auto& event : lane->events) {
        // Chrome counts in microseconds.
        fmt::format_to(
            std::back_inserter(text),
            ",\n"
            R"({{"ph": "X", "cat": {}, "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}}})",
            quoted(event.category), quoted(event.name), rank, lane->number,
            double(event.begin_ns) * 1e-3, double(event.end_ns - event.begin_ns) * 1e-3);
      }
    }
  }
  write_file(path, text + "\n]}\n");
}

void Span::begin(std::string_view category, std::string_view name) {
  category_ = category;
  name_ = name;
  begin_ns_ = Trace::now_ns();
}

void Span::end() { Trace::add_span(category_, name_, begin_ns_, Trace::now_ns()); }

}  // namespace d5
