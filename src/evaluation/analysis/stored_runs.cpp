// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/stored_runs.hpp"

#include <algorithm>
#include <iterator>

#include "evaluation/analysis/layer_times.hpp"

namespace d5 {
namespace {

std::vector<std::string> pieces_of_kind(const EvaluationDatabase& database, const std::string& run,
                                        const std::string& kind) {
  std::vector<std::string> names;
  for (const auto& piece : database.pieces(run)) {
    if (piece.kind == kind) names.push_back(piece.name);
  }
  return names;
}

std::vector<detail::LayerTime> layers_of(const EvaluationDatabase& database,
                                         const std::string& run) {
  const std::string id = database.run_id(run);
  auto layers = detail::layer_times(stored_run(database, id, StoredTraces::without));
  for (const auto& piece : pieces_of_kind(database, id, "trace")) {
    AnalysedRun one;
    one.traces.push_back(database.trace(id, piece));
    std::ranges::move(detail::layer_times(one), std::back_inserter(layers));
  }
  return layers;
}

}  // namespace

AnalysedRun stored_run(const EvaluationDatabase& database, const std::string& run,
                       StoredTraces traces) {
  constexpr std::size_t kDigits = 8;
  const std::string id = database.run_id(run);
  AnalysedRun found{.name = id.substr(0, kDigits), .results = database.results(id)};
  if (traces == StoredTraces::without) return found;
  for (const auto& piece : pieces_of_kind(database, id, "trace")) {
    found.traces.push_back(database.trace(id, piece));
  }
  return found;
}

std::vector<LayerDifference> stored_layer_differences(const EvaluationDatabase& database,
                                                      const std::string& a, const std::string& b) {
  return detail::layer_differences(layers_of(database, a), layers_of(database, b));
}

std::vector<NamedAnswerComparison> compare_stored_answers(const EvaluationDatabase& database,
                                                          const std::string& a,
                                                          const std::string& b,
                                                          std::size_t most_flips) {
  const std::string run_a = database.run_id(a), run_b = database.run_id(b);
  const auto in_a = pieces_of_kind(database, run_a, "answers");
  const auto in_b = pieces_of_kind(database, run_b, "answers");
  std::vector<NamedAnswerComparison> comparisons;
  const auto add = [&](const std::string& name, const std::string& of_a, const std::string& of_b) {
    comparisons.push_back(
        {name, database.compare_answers({run_a, of_a}, {run_b, of_b}, most_flips)});
  };
  if (in_a.size() == 1 && in_b.size() == 1) {
    add(in_a[0] == in_b[0] ? in_a[0] : in_a[0] + " / " + in_b[0], in_a[0], in_b[0]);
    return comparisons;
  }
  for (const auto& piece : in_a) {
    if (std::ranges::find(in_b, piece) != in_b.end()) add(piece, piece, piece);
  }
  return comparisons;
}

}  // namespace d5
