// SPDX-License-Identifier: Apache-2.0
// Writes results as JSON; results_reader.cpp reads them.
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/results/conditions_json.hpp"
#include "core/results/environment_fields.hpp"
#include "core/results/result_members.hpp"
#include "core/results/written_record.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {
namespace {

using Json = nlohmann::ordered_json;

/// JSON cannot represent non-finite numbers: d5 writes "NaN", "Infinity", "-Infinity".
Json number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json to_json(const PiecewiseRun& run) {
  Json pieces = Json::array();
  for (const auto& [name, records] : run.pieces) {
    pieces.push_back({{"name", name}, {"records", records}});
  }
  return {{"how", run.how}, {"pieces", std::move(pieces)}};
}

Json to_json(const detail::WrittenRecord& written) {
  const auto& [m, statistic, e] = written;
  Json json = detail::record_members(m, statistic);
  if (!m.samples.empty()) {
    json["value"] = number(e.value);
    if (e.interval.low <= e.interval.high) {
      json["interval"] = {number(e.interval.low), number(e.interval.high)};
    }
  }
  json["conditions"] = detail::to_json(m.conditions);
  json["artefacts"] = detail::artefact_list(m.artefacts);
  Json samples = Json::array();
  for (const double sample : m.samples) samples.push_back(number(sample));
  json["samples"] = std::move(samples);
  return json;
}

/// One object per record.
template <class Records>
Json list_of(const Records& records) {
  Json list = Json::array();
  for (const auto& record : records) list.push_back(to_json(detail::written(record)));
  return list;
}

template <class Records>
std::string json_lines(const Records& records, const Environment& environment) {
  std::string text;
  for (Json& json : list_of(records)) {
    json["time"] = environment.time;
    json["hostname"] = environment.hostname;
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace

namespace detail {

Json environment_members(const Environment& environment) {
  Json json;
  for_each_field(environment, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
      json[name] = number(value);
    } else {
      json[name] = value;
    }
  });
  return json;
}

Json record_members(const Measurement& m, const std::string& statistic) {
  return {{"subject", m.subject},
          {"command", m.command},
          {"level", m.level},
          {"framework", m.framework},
          {"framework_version", m.framework_version},
          {"device", m.device},
          {"metric", m.metric},
          {"unit", m.unit},
          {"quantity", std::string(name_of(m.quantity))},
          {"direction", std::string(name_of(m.direction))},
          {"statistic", statistic},
          {"over_ranks", std::string(name_of(m.over_ranks))},
          {"status", std::string(name_of(m.status))},
          {"reason", m.reason}};
}

Json artefact_list(const std::vector<Artefact>& artefacts) {
  Json list = Json::array();
  for (const auto& one : artefacts) {
    list.push_back({{"name", one.name}, {"version", one.version}, {"sha256", one.sha256}});
  }
  return list;
}

}  // namespace detail

std::string to_json(const Results& results) {
  Json file = {{"format", "d5 results"}, {"schema", Results::kSchema}};
  if (results.run) file["run"] = to_json(*results.run);
  file["environment"] = detail::environment_members(results.environment);
  file["measurements"] = list_of(results.measurements);
  const auto summary = sum_up_ratios(results.measurements);
  if (!summary.empty()) file["summary"] = list_of(summary);
  // A name may hold bytes that are not UTF-8; they become U+FFFD.
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_jsonl(const Results& results) {
  return json_lines(results.measurements, results.environment);
}

std::string detail::summary_to_jsonl(const Results& results) {
  return json_lines(sum_up_ratios(results.measurements), results.environment);
}

void write_results(const Results& results, const std::string& path) {
  write_file(path, to_json(results));
}

}  // namespace d5
