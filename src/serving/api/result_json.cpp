// SPDX-License-Identifier: Apache-2.0
#include "serving/api/result_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/results/conditions_json.hpp"
#include "core/results/result_members.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// The text members of a filter, by parameter.
std::vector<std::pair<const char*, std::string RecordFilter::*>> filter_members() {
  return {{"key", &RecordFilter::key},           {"subject", &RecordFilter::subject},
          {"level", &RecordFilter::level},       {"framework", &RecordFilter::framework},
          {"device", &RecordFilter::device},     {"metric", &RecordFilter::metric},
          {"status", &RecordFilter::status},     {"host", &RecordFilter::hostname},
          {"artefact", &RecordFilter::artefact}, {"since", &RecordFilter::since},
          {"until", &RecordFilter::until}};
}

}  // namespace

AnswerJson to_json(const StoredRun& run) {
  return {{"id", run.id},
          {"key", run.key},
          {"time", run.time},
          {"command", run.command},
          {"hostname", run.hostname},
          {"cpu", run.cpu},
          {"title", run.title},
          {"system", run.system},
          {"records", run.records},
          {"not_passed", run.not_passed}};
}

AnswerJson to_json(const StoredPiece& piece) {
  return {{"name", piece.name}, {"kind", piece.kind}, {"count", piece.count}};
}

AnswerJson to_json(const Interval& interval) {
  if (!(interval.low <= interval.high)) return nullptr;
  return {finite(interval.low), finite(interval.high)};
}

AnswerJson to_json(const StoredMeasurement& stored) {
  const Measurement& m = stored.record;
  AnswerJson json{{"run", stored.run},
                  {"piece", stored.piece},
                  {"time", stored.time},
                  {"hostname", stored.hostname}};
  json.update(record_members(m, to_string(m.statistic)));
  json["value"] = finite(stored.estimate.value);
  json["interval"] = to_json(stored.estimate.interval);
  json["conditions"] = to_json(m.conditions);
  json["artefacts"] = artefact_list(m.artefacts);
  if (m.samples.empty()) return json;
  json["samples"] = AnswerJson::array();
  for (const double sample : m.samples) json["samples"].push_back(finite(sample));
  return json;
}

AnswerJson to_json(const QueryRecord& query) {
  return {{"id", query.id},
          {"sample", query.sample},
          {"batch", query.batch},
          {"scheduled", query.scheduled},
          {"issued", query.issued},
          {"begun", query.begun},
          {"first", query.first},
          {"answered", query.answered},
          {"ended", query.ended},
          {"tokens", query.tokens},
          {"status", name_of(query.status)}};
}

AnswerJson to_json(const SampleAnswer& answer) {
  return {{"sample", answer.sample}, {"answer", answer.answer}, {"score", finite(answer.score)}};
}

RecordFilter asked_filter(const HttpRequest& request) {
  RecordFilter filter;
  for (const auto& [name, member] : filter_members()) filter.*member = request.asked(name);
  return filter;
}

std::vector<std::string> filter_names(std::vector<std::string> more) {
  for (const auto& [name, member] : filter_members()) more.emplace_back(name);
  return more;
}

std::string asked_run(const EvaluationDatabase& database, const HttpRequest& request) {
  return database.run_id(request.parameter("id"));
}

std::string asked_piece(const EvaluationDatabase& database, const std::string& run,
                        const std::string& kind, const HttpRequest& request) {
  std::vector<std::string> names;
  for (const auto& piece : database.pieces(run)) {
    if (piece.kind == kind) names.push_back(piece.name);
  }
  const std::string asked = request.asked("piece");
  if (asked.empty() && names.size() == 1) return names.front();
  if (std::ranges::find(names, asked) != names.end()) return asked;
  std::vector<std::string> shown;
  std::ranges::transform(names, std::back_inserter(shown),
                         [](const std::string& name) { return printable(name); });
  throw NotFound(
      fmt::format("run {} has {} of {}; '?piece=' names one of them", printable(run), kind,
                  names.empty() ? "no piece" : fmt::format("'{}'", fmt::join(shown, "', '"))));
}

}  // namespace d5::detail
