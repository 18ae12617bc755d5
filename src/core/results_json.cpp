// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/direction_name.hpp"
#include "core/json_reader.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/results.hpp"

namespace d5 {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::array kStatuses = {Status::passed, Status::failed, Status::mistrusted,
                                  Status::skipped, Status::unsupported};

/// JSON has no word for what is not a finite number: d5 writes "NaN", "Infinity", "-Infinity".
Json number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json to_json(const Environment& e) {
  return {{"time", e.time},
          {"hostname", e.hostname},
          {"os", e.os},
          {"cpu", e.cpu},
          {"sockets", e.sockets},
          {"cores", e.cores},
          {"hardware_threads", e.hardware_threads},
          {"numa_nodes", e.numa_nodes},
          {"l1_bytes", number(e.l1_bytes)},
          {"l2_bytes", number(e.l2_bytes)},
          {"l3_bytes", number(e.l3_bytes)},
          {"memory_bytes", number(e.memory_bytes)},
          {"virtualisation", e.virtualisation},
          {"governor", e.governor},
          {"compiler", e.compiler},
          {"flags", e.flags},
          {"build_type", e.build_type},
          {"d5_version", e.d5_version},
          {"libraries", e.libraries},
          {"threads", e.threads},
          {"pinning", e.pinning},
          {"variables", e.variables},
          {"clock_seconds_per_read", number(e.clock_seconds_per_read)},
          {"warnings", e.warnings}};
}

Json to_json(const Measurement& m) {
  Json samples = Json::array();
  for (const double sample : m.samples) samples.push_back(number(sample));
  return {
      {"subject", m.subject},
      {"command", m.command},
      {"level", m.level},
      {"framework", m.framework},
      {"framework_version", m.framework_version},
      {"device", m.device},
      {"metric", m.metric},
      {"unit", m.unit},
      {"direction", std::string(name_of(m.direction))},
      {"status", std::string(name_of(m.status))},
      {"reason", m.reason},
      {"conditions", std::map<std::string, std::string>(m.conditions.begin(), m.conditions.end())},
      {"samples", std::move(samples)}};
}

Environment environment_from(const detail::JsonReader& json) {
  Environment e;
  e.time = json.text("time", "");
  e.hostname = json.text("hostname", "");
  e.os = json.text("os", "");
  e.cpu = json.text("cpu", "");
  e.sockets = json.integer("sockets", 0);
  e.cores = json.integer("cores", 0);
  e.hardware_threads = json.integer("hardware_threads", 0);
  e.numa_nodes = json.integer("numa_nodes", 0);
  e.l1_bytes = json.number("l1_bytes", 0);
  e.l2_bytes = json.number("l2_bytes", 0);
  e.l3_bytes = json.number("l3_bytes", 0);
  e.memory_bytes = json.number("memory_bytes", 0);
  e.virtualisation = json.text("virtualisation", "");
  e.governor = json.text("governor", "");
  e.compiler = json.text("compiler", "");
  e.flags = json.text("flags", "");
  e.build_type = json.text("build_type", "");
  e.d5_version = json.text("d5_version", "");
  e.libraries = json.texts_by_name("libraries");
  e.threads = json.integer("threads", 0);
  e.pinning = json.text("pinning", "");
  e.variables = json.texts_by_name("variables");
  e.clock_seconds_per_read = json.number("clock_seconds_per_read", 0);
  e.warnings = json.texts("warnings");
  return e;
}

Measurement measurement_from(const detail::JsonReader& json) {
  Measurement m;
  m.subject = json.text("subject");
  m.command = json.text("command", "");
  m.level = json.text("level", "");
  m.framework = json.text("framework", "");
  m.framework_version = json.text("framework_version", "");
  m.device = json.text("device", "cpu");
  m.metric = json.text("metric");
  m.unit = json.text("unit");
  m.direction = Direction(json.choice("direction", kDirectionNames));
  std::array<std::string_view, kStatuses.size()> statuses;
  for (std::size_t i = 0; i < statuses.size(); ++i) statuses[i] = name_of(kStatuses[i]);
  m.status = kStatuses[json.choice("status", statuses)];
  m.reason = json.text("reason", "");
  if (m.status != Status::passed && m.reason.empty()) {
    json.fail("reason", "is empty", "a reason for the status " + std::string(name_of(m.status)));
  }
  for (auto& [name, value] : json.texts_by_name("conditions")) m.conditions.emplace(name, value);
  m.samples = json.numbers("samples");
  return m;
}

}  // namespace

std::string to_json(const Results& results) {
  Json measurements = Json::array();
  for (const auto& m : results.measurements) measurements.push_back(to_json(m));
  const Json file = {{"format", "d5 results"},
                     {"schema", Results::kSchema},
                     {"environment", to_json(results.environment)},
                     {"measurements", std::move(measurements)}};
  // A name may hold bytes that are not UTF-8; they become U+FFFD.
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Results results_from_json(const std::string& text, const std::string& file) {
  const detail::JsonReader json(text, "results '" + printable(file) + "'");
  if (json.text("format") != "d5 results") json.fail("format", "is another", "\"d5 results\"");
  const int schema = json.integer("schema");
  if (schema < 1 || schema > Results::kSchema) {
    json.fail("schema", fmt::format("is {}", schema),
              fmt::format("1 to {}; a newer d5 may read it", Results::kSchema));
  }
  Results results;
  results.environment = environment_from(json.object("environment"));
  for (const auto& entry : json.objects("measurements")) {
    results.measurements.push_back(measurement_from(entry));
  }
  return results;
}

Results read_results(const std::string& path) {
  return results_from_json(read_file(path, std::size_t{1} << 30), path);
}

void write_results(const Results& results, const std::string& path) {
  write_file(path, to_json(results));
}

}  // namespace d5
