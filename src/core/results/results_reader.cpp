// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "core/parsing/json_reader.hpp"
#include "core/results/conditions_json.hpp"
#include "core/results/environment_fields.hpp"
#include "core/results/record_words.hpp"
#include "core/results/results_schema1.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {
namespace {

using detail::JsonReader;

void read(const JsonReader& json, const char* name, std::string& to) { to = json.text(name, ""); }
void read(const JsonReader& json, const char* name, int& to) { to = json.integer(name, 0); }
void read(const JsonReader& json, const char* name, double& to) { to = json.number(name, 0); }
void read(const JsonReader& json, const char* name, std::vector<std::string>& to) {
  to = json.texts(name);
}
void read(const JsonReader& json, const char* name, std::map<std::string, std::string>& to) {
  to = json.texts_by_name(name);
}

Environment environment_from(const JsonReader& json) {
  Environment environment;
  detail::for_each_field(environment,
                         [&](const char* name, auto& value) { read(json, name, value); });
  return environment;
}

Statistic statistic_of(const JsonReader& json) {
  const std::string name = json.text("statistic");
  if (const auto statistic = statistic_from(name)) return *statistic;
  json.fail("statistic", fmt::format("is '{}'", printable(name)),
            "median, p and a percentage, mean, maximum, rate, share, last, best or single");
}

/// Fields of schema 2 that schema 1 lacks.
void read_kind(const JsonReader& json, Measurement& m) {
  m.quantity = Quantity(json.choice("quantity", detail::kQuantities));
  m.statistic = statistic_of(json);
  m.over_ranks = OverRanks(json.choice("over_ranks", detail::kOverRanks));
  for (const auto& artefact : json.objects("artefacts")) {
    m.artefacts.push_back({.name = artefact.text("name"),
                           .version = artefact.text("version", ""),
                           .sha256 = artefact.text("sha256", "")});
  }
}

Measurement measurement_from(const JsonReader& json, int schema) {
  Measurement m;
  m.subject = json.text("subject");
  m.command = json.text("command", "");
  m.level = json.text("level", "");
  m.framework = json.text("framework", "");
  m.framework_version = json.text("framework_version", "");
  m.device = json.text("device", "cpu");
  m.metric = json.text("metric");
  m.unit = json.text("unit");
  m.direction = Direction(json.choice("direction", detail::kDirections));
  m.status = Status(json.choice("status", detail::kStatuses));
  m.reason = json.text("reason", "");
  if (m.status != Status::passed && m.reason.empty()) {
    json.fail("reason", "is empty", "a reason for the status " + std::string(name_of(m.status)));
  }
  m.conditions = detail::conditions_in(json);
  m.samples = json.numbers("samples");
  if (schema == 1) {
    detail::from_schema1(m);
  } else {
    read_kind(json, m);
  }
  return m;
}

PiecewiseRun run_from(const JsonReader& json, std::size_t records) {
  PiecewiseRun run{.how = json.text("how")};
  std::size_t told = 0;
  for (const auto& piece : json.objects("pieces")) {
    const auto count = std::size_t(piece.integer("records"));
    run.pieces.push_back({piece.text("name"), count});
    told += count;
  }
  if (told > records) {
    json.fail("pieces", fmt::format("have {} records", told), fmt::format("at most {}", records));
  }
  return run;
}

}  // namespace

Results results_from_json(const std::string& text, const std::string& file) {
  const JsonReader json(text, "results '" + printable(file) + "'");
  if (json.text("format") != "d5 results") json.fail("format", "is another", "\"d5 results\"");
  const int schema = json.integer("schema");
  if (schema < 1 || schema > Results::kSchema) {
    json.fail("schema", fmt::format("is {}", schema),
              fmt::format("1 to {}; a newer d5 may read it", Results::kSchema));
  }
  Results results;
  results.environment = environment_from(json.object("environment"));
  for (const auto& entry : json.objects("measurements")) {
    results.measurements.push_back(measurement_from(entry, schema));
  }
  if (json.has("run")) results.run = run_from(json.object("run"), results.measurements.size());
  return results;
}

Results read_results(const std::string& path) {
  return results_from_json(read_file(path, std::size_t{1} << 30), path);
}

}  // namespace d5
