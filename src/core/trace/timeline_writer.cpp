// SPDX-License-Identifier: Apache-2.0
// Writes a timeline in Chrome's trace event format, for Perfetto and chrome://tracing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/trace/timeline.hpp"

namespace d5 {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The format's unit is microseconds; written with nanosecond resolution.
std::string microseconds(std::int64_t ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

Json value(const TraceArgument& argument) {
  return std::visit(
      [](const auto& v) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, double>) {
          if (!std::isfinite(v)) return std::isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity";
        }
        return v;
      },
      argument.value);
}

Json arguments_of(const TraceRecord& record) {
  Json arguments = Json::object();
  for (const auto& argument : record.arguments) arguments[argument.name] = value(argument);
  if (record.kind != TraceRecord::Kind::counter) arguments["id"] = record.id;
  if (record.parent != 0) arguments["parent"] = record.parent;
  return arguments;
}

Json metadata(const Timeline& timeline, std::int64_t origin_ns) {
  Json ranks = Json::array();
  for (const auto& [rank, host, dropped, clock] : timeline.ranks) {
    ranks.push_back({{"rank", rank},
                     {"host", host},
                     {"dropped", dropped},
                     {"clock_offset_ns", clock.offset_ns},
                     {"clock_uncertainty_ns", clock.uncertainty_ns}});
    if (clock.drift == 0) continue;
    ranks.back()["clock_drift"] = clock.drift;
    ranks.back()["clock_since_ns"] = clock.since_ns;
  }
  Json all = {{"format", "d5 trace"},
              {"schema", Timeline::kSchema},
              {"origin_ns", origin_ns},
              {"ranks", std::move(ranks)}};
  if (!timeline.cut_off.empty()) all["cut_off"] = timeline.cut_off;
  return all;
}

/// Writes one event per line, without a document tree, because there may be many.
class Writer {
 public:
  explicit Writer(const Timeline& timeline)
      : origin_ns_(timeline.records.empty() ? 0 : timeline.records.front().begin_ns) {
    text_ = fmt::format("{{\"otherData\": {},\n\"displayTimeUnit\": \"ns\", \"traceEvents\": [",
                        dumped(metadata(timeline, origin_ns_)));
    // Each rank's lanes follow its name: Perfetto used to apply a thread's name to the latest
    // thread with its number, in any process.
    for (const auto& [rank, host, dropped, clock] : timeline.ranks) {
      const std::string where = host.empty() ? "" : " on " + host;
      add_name("process_name", rank, 0, fmt::format("rank {}{}", rank, where));
      for (const auto& lane : timeline.lanes) {
        if (lane.rank == rank) add_lane(lane);
      }
    }
    for (const auto& lane : timeline.lanes) {
      const auto owns = [&](const TraceRank& row) { return row.rank == lane.rank; };
      if (std::ranges::none_of(timeline.ranks, owns)) add_lane(lane);
    }
    for (const auto& record : timeline.records) add(record);
    text_ += "\n]}\n";
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void add_name(const char* what, int rank, int lane, const std::string& name) {
    add_line(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, rank, lane,
             dumped(name));
  }

  void add_lane(const TraceLane& lane) {
    add_name("thread_name", lane.rank, lane.number, lane.name);
  }

  void add(const TraceRecord& record) {
    switch (record.kind) {
      case TraceRecord::Kind::span:
        add_event(
            "X", record, record.begin_ns,
            fmt::format(R"("dur":{},"args":{})", microseconds(record.end_ns - record.begin_ns),
                        dumped(arguments_of(record))));
        break;
      case TraceRecord::Kind::overlapping: {
        const std::string id = fmt::format(R"("id2":{{"local":"{:#x}"}},"args":)", record.id);
        add_event("b", record, record.begin_ns, id + dumped(arguments_of(record)));
        add_event("e", record, record.end_ns, id + "{}");
        break;
      }
      case TraceRecord::Kind::counter:
        add_event("C", record, record.begin_ns, "\"args\":" + dumped(arguments_of(record)));
        break;
    }
  }

  void add_event(const char* phase, const TraceRecord& record, std::int64_t at_ns,
                 const std::string& rest) {
    add_line(R"({{"ph":"{}","cat":{},"name":{},"pid":{},"tid":{},"ts":{},{}}})", phase,
             dumped(record.level), dumped(record.name), record.rank, record.lane,
             microseconds(at_ns - origin_ns_), rest);
  }

  template <class... Values>
  void add_line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  std::int64_t origin_ns_;
  std::string text_;
  bool first_ = true;
};

}  // namespace

std::string to_json(const Timeline& timeline) { return Writer(timeline).take(); }

void write_timeline(const Timeline& timeline, const std::string& path) {
  write_file(path, to_json(timeline));
}

}  // namespace d5
