// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/parsing/json_depth.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/canonical_json.hpp"
#include "d5/evaluation/manifest/generator_manifest.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "evaluation/manifest/kept_manifests.hpp"
#include "evaluation/manifest/manifest_paths.hpp"
#include "evaluation/run/generator_model.hpp"

namespace d5 {
namespace {

using nlohmann::json;

constexpr const char* kPrompts = "prompts";  ///< the data set of generators

/// The data set that a model is judged on: the evaluation's, or else that of its first claim, or
/// the prompts of a generator.
FoundManifest<DatasetManifest> dataset_of(const EvaluationManifest& manifest,
                                          const FoundManifest<ModelManifest>& found) {
  if (!manifest.dataset.empty()) return find_manifest<DatasetManifest>(manifest.dataset);
  if (detail::generator_of(found)) return find_manifest<DatasetManifest>(kPrompts);
  const ModelManifest& model = found.manifest;
  if (!model.accuracy.empty()) return detail::claimed_dataset(model, model.accuracy.front());
  throw ValueError(
      fmt::format("{} claims no accuracy on any data set; give a data set", model.reference()));
}

/// Whether a framework's word names a manifest: its file, NAME@VERSION, or a built-in one.
bool names_manifest(const std::string& word) {
  if (detail::is_framework_file(word)) return true;
  if (word.find(':') != std::string::npos) return false;  // a name with options
  return word.find('@') != std::string::npos ||
         std::ranges::count(carried_manifests("framework"), word) > 0;
}

FixedFramework told_framework(FoundManifest<FrameworkManifest> told) {
  EntryChoice choice = entry_of_words("framework", told.manifest.word);
  for (const auto& [name, value] : told.manifest.options) choice.settings.set(name, value);
  return {.word = to_words(choice), .told = std::move(told)};
}

template <class Manifest>
json contents_of(const std::vector<FoundManifest<Manifest>>& found) {
  json all = json::array();
  for (const auto& one : found) all.push_back(json::parse(one.canonical));
  return all;
}

/// Sets the canonical text, and its key.
void fix(FixedEvaluation& fixed) {
  json all{{"evaluation", json::parse(canonical_json(fixed.manifest))},
           {"models", contents_of(fixed.models)},
           {"datasets", json::array()}};
  for (const auto& dataset : fixed.datasets) {
    all["datasets"].push_back(
        {{"reference", dataset.manifest.reference()}, {"sha256", dataset.digest}});
  }
  // A manifest's place is not part of its content.
  json& told = all["evaluation"];
  for (const char* name : {"models", "dataset", "systems"}) told.erase(name);
  told["frameworks"] = json::array();
  for (const FixedFramework& framework : fixed.frameworks) {
    told["frameworks"].push_back(framework.word);
    if (framework.told) all["frameworks"].push_back(json::parse(framework.told->canonical));
  }
  if (!fixed.systems.empty()) all["systems"] = contents_of(fixed.systems);
  fixed.canonical = canonical_json(all.dump(), "evaluation " + fixed.manifest.reference());
  fixed.key = canonical_digest_of(fixed.canonical);
}

template <class Manifest>
FoundManifest<Manifest> found_in(const json& content, const std::string& file) {
  auto found = detail::read_once<Manifest>(content.dump(), file);
  found.file = file;
  found.manifest.beside = detail::folder_of_manifest(file);
  return found;
}

/// The data set among the artefacts, where an agent keeps those of its server; its file has the
/// digest of the manifest.
std::optional<FoundManifest<DatasetManifest>> kept_dataset(const std::string& reference,
                                                           const std::string& digest) {
  const ArtefactStore store = detail::store_of(digest);
  if (!store.has(digest)) return std::nullopt;
  const std::string file = store.path_of(digest);
  auto found = detail::read_once<DatasetManifest>(detail::read_manifest_file(file), file);
  found.file = file;
  if (found.digest != digest || found.manifest.reference() != reference) return std::nullopt;
  return found;
}

FoundManifest<DatasetManifest> dataset_in(const json& told) {
  const std::string reference = told.at("reference"), digest = told.at("sha256");
  if (auto kept = kept_dataset(reference, digest)) return *std::move(kept);
  auto found = find_manifest<DatasetManifest>(reference);
  if (found.digest == digest) return found;
  throw ValueError(fmt::format("data set {} differs here: SHA-256 {}, but {} is required",
                               printable(reference), found.digest, printable(digest)));
}

json parsed(const std::string& text) {
  detail::expect_shallow_json(text, "an evaluation");
  json all = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return all.is_object() ? all : json::object();
}

/// Throws: ValueError for an empty list, with which nothing would be measured.
template <class T>
void expect_entries(const char* name, const std::vector<T>& values) {
  if (!values.empty()) return;
  throw ValueError(
      fmt::format("the evaluation: {} is empty; give one or more, or leave it out", name));
}

/// A model, or a generator in its place. Throws: as `find_manifest`, with the nearest of both.
FoundManifest<ModelManifest> find_model(const std::string& word) {
  if (detail::names_generator(word)) {
    return detail::as_model(find_manifest<GeneratorManifest>(word));
  }
  const std::string name = word.substr(0, word.find('@'));
  std::vector<std::string> known = carried_manifests(ModelManifest::kKind);
  if (std::ranges::find(known, name) == known.end() && !is_manifest_path(word) &&
      !word.ends_with(".onnx")) {
    std::ranges::copy(carried_manifests(GeneratorManifest::kKind), std::back_inserter(known));
    throw_unknown_name("manifest of a model or a generator", name, known);
  }
  return find_manifest<ModelManifest>(word);
}

FoundManifest<ModelManifest> model_in(const json& content, const std::string& file) {
  auto found = detail::read_model(content.dump(), file);
  found.file = file;
  found.manifest.beside = detail::folder_of_manifest(file);
  return found;
}

}  // namespace

FixedEvaluation fix_evaluation(const EvaluationManifest& told) {
  expect_entries("models", told.models);
  expect_entries("frameworks", told.frameworks);
  expect_entries("batches", told.batches);
  expect_entries("trace_levels", told.trace_levels);
  FixedEvaluation fixed;
  fixed.manifest = detail::located(told);
  const EvaluationManifest& manifest = fixed.manifest;
  for (const std::string& word : manifest.models) {
    fixed.models.push_back(find_model(word));
    fixed.datasets.push_back(dataset_of(manifest, fixed.models.back()));
  }
  for (const std::string& word : manifest.frameworks) {
    if (!names_manifest(word)) {
      fixed.frameworks.push_back({.word = word});
    } else {
      fixed.frameworks.push_back(told_framework(find_manifest<FrameworkManifest>(word)));
    }
  }
  for (const std::string& word : manifest.systems) {
    fixed.systems.push_back(find_manifest<SystemManifest>(word));
  }
  fix(fixed);
  return fixed;
}

bool is_fixed_evaluation(const std::string& text) {
  const json all = parsed(text);
  return all.contains("evaluation") && all.contains("models") && all.contains("datasets") &&
         !all.contains("kind") && !all.contains("format");
}

FixedEvaluation fixed_evaluation_from(const std::string& canonical, const std::string& file) {
  if (!is_fixed_evaluation(canonical)) {
    throw FormatError(
        fmt::format("'{}' is not an evaluation with all that it names", printable(file)));
  }
  FixedEvaluation fixed;
  try {
    json all = parsed(canonical);
    json& told = all.at("evaluation");
    for (const json& content : all.at("models")) {
      fixed.models.push_back(model_in(content, file));
      told["models"].push_back(fixed.models.back().manifest.reference());
    }
    for (const json& content : all.at("datasets")) fixed.datasets.push_back(dataset_in(content));
    for (const json& content : all.value("systems", json::array())) {
      fixed.systems.push_back(found_in<SystemManifest>(content, file));
    }
    fixed.manifest = parse_manifest<EvaluationManifest>(told.dump(), file);
    for (const std::string& word : fixed.manifest.frameworks) fixed.frameworks.push_back({word});
    for (const json& content : all.value("frameworks", json::array())) {
      FixedFramework one = told_framework(found_in<FrameworkManifest>(content, file));
      const auto place = std::ranges::find(fixed.frameworks, one.word, &FixedFramework::word);
      if (place != fixed.frameworks.end()) *place = std::move(one);
    }
  } catch (const json::exception& error) {
    throw FormatError(fmt::format("'{}': {}", printable(file), error.what()));
  }
  if (fixed.models.empty() || fixed.models.size() != fixed.datasets.size()) {
    throw FormatError(
        fmt::format("'{}' has {} models and {} data sets; expected one data set per model",
                    printable(file), fixed.models.size(), fixed.datasets.size()));
  }
  fix(fixed);
  return fixed;
}

}  // namespace d5
