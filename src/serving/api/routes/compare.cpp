// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/result_comparison.hpp"
#include "d5/evaluation/analysis/stored_runs.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {
namespace {

using detail::AnswerJson;

AnswerJson side(const Measurement& record) {
  const Estimate found = estimate(record);
  return {{"value", detail::finite(found.value)}, {"interval", detail::to_json(found.interval)}};
}

/// "torch, server, batch 8": what distinguishes a record from others of its subject.
std::string words_of(const Measurement& record) {
  std::vector<std::string> words = {record.framework};
  for (const auto& [name, condition] : record.conditions) {
    if (condition.role == Role::identity) words.push_back(name + " " + condition.text());
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

AnswerJson pair_json(const ResultPair& pair) {
  return {{"subject", pair.a.subject},
          {"metric", pair.a.metric},
          {"unit", pair.a.unit},
          {"statistic", to_string(pair.a.statistic)},
          {"direction", name_of(pair.a.direction)},
          {"name", words_of(pair.a)},
          {"a", side(pair.a)},
          {"b", side(pair.b)},
          {"ratio", detail::finite(pair.ratio)},
          {"ratio_interval", detail::to_json(pair.interval)},
          {"p_value", detail::finite(pair.p_value)}};
}

AnswerJson answers_json(const NamedAnswerComparison& named) {
  const AnswerComparison& c = named.comparison;
  AnswerJson flips = AnswerJson::array();
  for (const auto& flip : c.flips) {
    flips.push_back({{"sample", flip.sample},
                     {"a", flip.a},
                     {"b", flip.b},
                     {"score_a", detail::finite(flip.score_a)},
                     {"score_b", detail::finite(flip.score_b)}});
  }
  return {{"name", named.name},
          {"samples", c.samples},
          {"both", c.both},
          {"only_a", c.only_a},
          {"only_b", c.only_b},
          {"neither", c.neither},
          {"same_answers", c.same_answers},
          {"not_in_both", c.not_in_both},
          {"p_value", detail::finite(c.p_value)},
          {"flips", std::move(flips)}};
}

AnswerJson layer_json(const LayerDifference& layer) {
  return {{"name", layer.name},
          {"type", layer.type},
          {"a", detail::finite(layer.a)},
          {"b", detail::finite(layer.b)},
          {"share_of_all", detail::finite(layer.share_of_all)},
          {"is_sure", layer.is_sure}};
}

template <class Items, class ToJson>
AnswerJson list_of(const Items& items, const ToJson& to_json) {
  AnswerJson list = AnswerJson::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

HttpResponse answer_compare(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {"a", "b"});
  const auto database = context.database();
  AnswerJson json;
  std::vector<AnalysedRun> runs;
  std::vector<std::string> ids;
  for (const char* name : {"a", "b"}) {
    const std::string asked = request.asked(name);
    if (asked.empty()) throw ValueError("compare takes two runs: ?a=ID&b=ID");
    const std::string id = database->run_id(asked);
    json[name] = detail::to_json(database->runs({.run = id}).at(0));
    runs.push_back(stored_run(*database, id, StoredTraces::without));
    ids.push_back(id);
  }
  const auto difference_json = [](const ResultDifference& one) {
    return AnswerJson{{"name", one.name}, {"a", one.a}, {"b", one.b}};
  };
  json["differences"] = list_of(differences(runs[0].results, runs[1].results), difference_json);
  json["records"] = list_of(compare_results(runs[0].results, runs[1].results), pair_json);
  json["answers"] = list_of(compare_stored_answers(*database, ids[0], ids[1]), answers_json);
  json["layers"] = list_of(stored_layer_differences(*database, ids[0], ids[1]), layer_json);
  return detail::json_answer(json);
}

}  // namespace

void register_compare(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/compare", {.summary = "two runs compared: numbers, answers, layers",
                                   .role = ServingRole::view,
                                   .answer = answer_compare});
}

}  // namespace d5::route
