// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/model_trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace d5::detail {
namespace {

constexpr std::size_t kMostRecords = std::size_t{1} << 18;  ///< the newest, as of a process's trace

struct Recorded {
  std::mutex mutex;
  std::deque<TraceRecord> records;
  std::uint64_t dropped = 0;
};
Recorded& recorded() {
  static Recorded& one = *new Recorded;  // threads may end after the program's static objects
  return one;
}

std::atomic<std::uint64_t> last_model_span = 0;
std::atomic<int> last_model_lane = 0;
thread_local std::vector<std::uint64_t> open_model_spans;

int model_lane() {
  thread_local const int lane = last_model_lane++;
  return lane;
}

}  // namespace

std::atomic<bool> ModelTrace::on_ = false;

void ModelTrace::start() {
  Recorded& all = recorded();
  const std::lock_guard lock(all.mutex);
  all.records.clear();
  all.dropped = 0;
  on_ = true;
}

std::uint64_t ModelTrace::add(TraceRecord record) {
  if (!on()) return 0;
  if (record.id == 0) record.id = ++last_model_span;
  if (record.lane == TraceRecord::kMine) record.lane = model_lane();
  record.rank = 0;
  record.level = "evaluation";
  const std::uint64_t id = record.id;
  Recorded& all = recorded();
  const std::lock_guard lock(all.mutex);
  if (all.records.size() == kMostRecords) {
    all.records.pop_front();
    ++all.dropped;
  }
  all.records.push_back(std::move(record));
  return id;
}

Timeline ModelTrace::stop() {
  on_ = false;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  Recorded& all = recorded();
  const std::lock_guard lock(all.mutex);
  Timeline timeline;
  timeline.ranks.push_back({.rank = 0, .host = host.data(), .dropped = all.dropped});
  timeline.records.assign(all.records.begin(), all.records.end());
  all.records.clear();
  std::set<int> lanes;
  for (const TraceRecord& record : timeline.records) lanes.insert(record.lane);
  for (const int lane : lanes) timeline.lanes.push_back({0, lane, fmt::format("thread {}", lane)});
  timeline.sort();
  return timeline;
}

std::uint64_t ModelSpan::current() {
  if (!ModelTrace::on()) return Trace::current();
  return open_model_spans.empty() ? 0 : open_model_spans.back();
}

void ModelSpan::begin(const char* name) {
  record_ = std::make_unique<TraceRecord>();
  record_->name = name;
  record_->id = ++last_model_span;
  record_->parent = current();
  open_model_spans.push_back(record_->id);
  record_->begin_ns = Trace::now_ns();
}

void ModelSpan::end() {
  record_->end_ns = Trace::now_ns();
  std::erase(open_model_spans, record_->id);
  ModelTrace::add(std::move(*record_));
}

}  // namespace d5::detail
