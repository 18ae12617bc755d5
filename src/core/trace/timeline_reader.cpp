// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/trace/timeline.hpp"

namespace d5 {
namespace {

using TraceJson = nlohmann::ordered_json;

bool is_text(const TraceJson& json) { return json.is_string(); }
bool is_integer(const TraceJson& json) { return json.is_number_integer(); }
bool is_number(const TraceJson& json) { return json.is_number(); }
bool is_object(const TraceJson& json) { return json.is_object(); }
bool is_list(const TraceJson& json) { return json.is_array(); }

/// Reads event by event, so that the document is never in memory as a tree.
class Reader {
 public:
  explicit Reader(const std::string& file) : who_(fmt::format("trace '{}'", printable(file))) {}

  Timeline read(const std::string& text) {
    std::string key;  // key in the file's top-level object
    const auto each = [&](int depth, TraceJson::parse_event_t event, TraceJson& json) {
      if (depth == 1 && event == TraceJson::parse_event_t::key) key = json.get<std::string>();
      const bool whole = event == TraceJson::parse_event_t::object_end;
      if (depth == 2 && whole && key == "traceEvents") {
        place_ = fmt::format("traceEvents[{}]", events_++);
        add_event(json);
        return false;
      }
      return true;
    };
    try {
      add_metadata(TraceJson::parse(text, each));
    } catch (const TraceJson::parse_error& error) {
      throw FormatError(fmt::format("{}: invalid JSON at byte {}; the file is truncated or damaged",
                                    who_, error.byte));
    } catch (const TraceJson::out_of_range&) {
      throw FormatError(fmt::format("{}: a number is too large for any type", who_));
    }
    if (!open_.empty()) {
      place_ = fmt::format("traceEvents: span {} of rank {}", open_.begin()->first.second,
                           open_.begin()->first.first);
      fail("has a beginning and no end");
    }
    for (auto& record : timeline_.records) {
      record.begin_ns += origin_ns_;
      record.end_ns += origin_ns_;
    }
    timeline_.sort();
    return std::move(timeline_);
  }

 private:
  [[noreturn]] void fail(const std::string& complaint) const {
    throw FormatError(fmt::format("{}: {} {}", who_, place_, complaint));
  }

  const TraceJson& field(const TraceJson& object, const char* name, bool is_right(const TraceJson&),
                         const char* expected) const {
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (found == object.end()) fail(fmt::format("has no '{}', expected {}", name, expected));
    if (!is_right(*found)) {
      fail(fmt::format("has the {} '{}', expected {}", found->type_name(), name, expected));
    }
    return *found;
  }
  std::string text(const TraceJson& object, const char* name) const {
    return field(object, name, is_text, "a text").get<std::string>();
  }
  std::int64_t integer(const TraceJson& object, const char* name) const {
    return field(object, name, is_integer, "an integer").get<std::int64_t>();
  }
  /// A rank, a lane, a schema.
  int number(const TraceJson& object, const char* name) const {
    const std::int64_t value = integer(object, name);
    if (value < 0 || value > std::numeric_limits<int>::max()) {
      fail(fmt::format("has {} {}, expected one from 0 to {}", name, value,
                       std::numeric_limits<int>::max()));
    }
    return static_cast<int>(value);
  }
  std::int64_t nanoseconds(const TraceJson& object, const char* name) const {
    constexpr double kMost = 9e15;  // integers of nanoseconds up to here are exact in a double
    const double ns = 1e3 * field(object, name, is_number, "a number").get<double>();
    if (std::abs(ns) > kMost) fail(fmt::format("has a '{}' beyond 104 days", name));
    return std::llround(ns);
  }

  void add_metadata(const TraceJson& file) {
    place_ = "the file";
    const TraceJson& json = field(file, "otherData", is_object, "an object");
    place_ = "otherData";
    if (text(json, "format") != "d5 trace") fail("is not a trace of d5");
    if (const int schema = number(json, "schema"); schema != Timeline::kSchema) {
      fail(fmt::format("has schema {}, but this d5 reads schema {}; use the d5 that wrote it",
                       schema, Timeline::kSchema));
    }
    origin_ns_ = integer(json, "origin_ns");
    if (json.contains("cut_off")) timeline_.cut_off = text(json, "cut_off");
    for (const TraceJson& rank : field(json, "ranks", is_list, "a list")) {
      place_ = fmt::format("otherData.ranks[{}]", timeline_.ranks.size());
      timeline_.ranks.push_back(
          {.rank = number(rank, "rank"),
           .host = text(rank, "host"),
           .dropped = static_cast<std::uint64_t>(integer(rank, "dropped")),
           .clock = {integer(rank, "clock_offset_ns"), integer(rank, "clock_uncertainty_ns")}});
      if (!rank.contains("clock_drift")) continue;
      ClockOffset& clock = timeline_.ranks.back().clock;
      clock.drift = field(rank, "clock_drift", is_number, "a number").get<double>();
      clock.since_ns = integer(rank, "clock_since_ns");
    }
  }

  void add_event(const TraceJson& json) {
    const std::string phase = text(json, "ph");
    if (phase == "M") {
      if (text(json, "name") == "thread_name") add_lane(json);
    } else if (phase == "X") {
      TraceRecord& record = add_record(json, TraceRecord::Kind::span);
      record.end_ns = record.begin_ns + nanoseconds(json, "dur");
    } else if (phase == "C") {
      add_record(json, TraceRecord::Kind::counter);
    } else if (phase == "b") {
      const TraceRecord& record = add_record(json, TraceRecord::Kind::overlapping);
      open_[{record.rank, record.id}] = timeline_.records.size() - 1;
    } else if (phase == "e") {
      end(json);
    }  // A timeline has no place for other events.
  }

  void add_lane(const TraceJson& json) {
    const TraceJson& names = field(json, "args", is_object, "an object");
    timeline_.lanes.push_back({number(json, "pid"), number(json, "tid"), text(names, "name")});
  }

  TraceRecord& add_record(const TraceJson& json, TraceRecord::Kind kind) {
    TraceRecord& record = timeline_.records.emplace_back();
    record.kind = kind;
    record.rank = number(json, "pid");
    record.lane = number(json, "tid");
    record.level = text(json, "cat");
    record.name = text(json, "name");
    record.begin_ns = record.end_ns = nanoseconds(json, "ts");
    const TraceJson& arguments = field(json, "args", is_object, "an object");
    for (const auto& [name, value] : arguments.items()) {
      if (name == "id") {
        record.id = static_cast<std::uint64_t>(integer(arguments, "id"));
      } else if (name == "parent") {
        record.parent = static_cast<std::uint64_t>(integer(arguments, "parent"));
      } else if (value.is_number_integer()) {
        record.arguments.push_back({name, value.get<std::int64_t>()});
      } else if (value.is_number()) {
        record.arguments.push_back({name, value.get<double>()});
      } else {
        record.arguments.push_back({name, text(arguments, name.c_str())});
      }
    }
    return record;
  }

  void end(const TraceJson& json) {
    const TraceJson& ids = field(json, "id2", is_object, "an object");
    const std::string word = text(ids, "local");
    const auto begun = open_.find({number(json, "pid"), std::strtoull(word.c_str(), nullptr, 16)});
    if (begun == open_.end()) fail(fmt::format("ends '{}', which has not begun", printable(word)));
    timeline_.records[begun->second].end_ns = nanoseconds(json, "ts");
    open_.erase(begun);
  }

  std::string who_, place_;
  std::size_t events_ = 0;
  std::int64_t origin_ns_ = 0;
  std::map<std::pair<int, std::uint64_t>, std::size_t> open_;  // record index by rank and id
  Timeline timeline_;
};

}  // namespace

Timeline timeline_from_json(const std::string& text, const std::string& file) {
  return Reader(file).read(text);
}

Timeline read_timeline(const std::string& path) {
  return timeline_from_json(read_file(path), path);
}

}  // namespace d5
