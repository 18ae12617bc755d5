// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/asked_evaluation.hpp"

#include <algorithm>
#include <utility>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "evaluation/manifest/manifest_paths.hpp"

namespace d5 {
namespace {

/// Whether a word names the manifest of an evaluation, rather than of a model.
bool names_evaluation(const std::string& word) {
  if (!is_manifest_path(word)) {
    const auto known = carried_manifests("evaluation");
    return std::ranges::find(known, word.substr(0, word.find('@'))) != known.end();
  }
  const std::string text = detail::read_manifest_file(manifest_file("model", word));
  return manifest_kind_of(text, word) == "evaluation";
}

}  // namespace

EvaluationManifest asked_evaluation(const std::vector<std::string>& what, const std::string& name) {
  if (what.empty()) throw ValueError("neither a model nor an evaluation is named");
  EvaluationManifest manifest;
  if (what.size() == 1 && names_evaluation(what.front())) {
    manifest = detail::located(find_manifest<EvaluationManifest>(what.front()).manifest);
    manifest.frameworks = executor_words(manifest.frameworks);
    return manifest;
  }
  manifest.name = name;
  manifest.version = "0.0.0-dev";
  manifest.models = what;
  manifest.scenarios = {{"single_stream"}};
  return manifest;
}

void change_evaluation(EvaluationManifest& manifest, const Settings& changes) {
  manifest = read_options(changes.owned_by("evaluation"), std::move(manifest));
  for (EntryChoice& choice : manifest.scenarios) {
    choice.name = meant_name(choice.name, scenarios().names());
  }
}

}  // namespace d5
