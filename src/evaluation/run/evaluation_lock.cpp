// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/evaluation_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/files/sha256.hpp"
#include "core/parsing/json_depth.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/version.hpp"
#include "evaluation/manifest/manifest_paths.hpp"
#include "evaluation/run/locked_files.hpp"

namespace d5 {
namespace {

using nlohmann::json;

constexpr int kLockSchema = 2;

/// The digest of a framework's plug-in; empty for one that is linked in.
std::string plugin_digest(const std::string& name) {
  for (const FrameworkInfo& info : frameworks()) {
    if (info.name == name && !info.path.empty()) return detail::sha256(read_file(info.path));
  }
  return {};
}

/// Versions and plug-ins of the predictors' frameworks here.
json locked_frameworks(const std::vector<FixedFramework>& frameworks) {
  json all = json::object();
  for (const auto& [word, told] : frameworks) {
    if (find_predictor(word)) continue;
    for (const std::string& name : ExecutorWord(word).frameworks()) {
      if (name == "auto") continue;
      all[name] = {{"version", version_of(name)}, {"plugin", plugin_digest(name)}};
    }
  }
  return all;
}

/// A data set with all files that its reader reads. `locked` is what a lock says of it, or null: a
/// reader that cannot open is compared file by file.
json locked_dataset(const FoundManifest<DatasetManifest>& dataset, const json& locked) {
  const auto told = [&](const detail::FileDigests& files) {
    return json{{"sha256", dataset.digest}, {"files", files}};
  };
  try {
    return told(detail::sample_files(dataset.manifest));
  } catch (const Error&) {
    const json files = locked.is_object() ? locked.value("files", json()) : json();
    if (!files.is_object()) throw;
    json left = told(detail::files_left(dataset.manifest, files.get<detail::FileDigests>()));
    if (left == locked) throw;  // another fault
    return left;
  }
}

/// The lock of an evaluation. `locked` is an earlier one, or null.
json lock_json(const FixedEvaluation& evaluation, const json& locked = nullptr) {
  json models = json::object(), datasets = json::object();
  for (const auto& model : evaluation.models) {
    json assets = json::object();
    for (const auto& asset : model.manifest.assets) assets[asset.name] = asset.sha256;
    models[model.manifest.reference()] = {{"sha256", model.digest}, {"assets", assets}};
  }
  const json known = locked.is_object() ? locked.value("datasets", json()) : json();
  for (const auto& dataset : evaluation.datasets) {
    const std::string name = dataset.manifest.reference();
    if (datasets.contains(name)) continue;
    datasets[name] =
        locked_dataset(dataset, known.is_object() ? known.value(name, json()) : json());
  }
  return {{"format", "d5 evaluation lock"},
          {"schema", kLockSchema},
          {"key", evaluation.key},
          {"d5", D5_VERSION},
          {"evaluation", json::parse(canonical_json(evaluation.manifest))},
          {"models", std::move(models)},
          {"datasets", std::move(datasets)},
          {"files", detail::named_files(evaluation)},
          {"frameworks", locked_frameworks(evaluation.frameworks)}};
}

/// "datasets/digits/files/a/b.npz" of "/datasets/digits/files/a~1b.npz", a JSON pointer.
std::string words_of_pointer(const std::string& pointer) {
  std::string words = pointer.substr(1);
  for (const auto& [escaped, plain] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
    for (std::size_t at = 0; (at = words.find(escaped, at)) != std::string::npos; ++at) {
      words.replace(at, 2, plain);
    }
  }
  return words;
}

/// "frameworks/torch/version: 2.12.0, but 2.13.0 was locked", one line per difference.
std::string differences(const json& now, const json& locked) {
  const json a = now.flatten(), b = locked.flatten();
  std::string text;
  const auto tell = [&](const std::string& name, const json* is, const json* was) {
    const auto shown = [](const json* value) {
      return value ? printable(value->is_string() ? value->get<std::string>() : value->dump())
                   : "nothing";
    };
    text += fmt::format("\n  {}: {}, but {} was locked", printable(words_of_pointer(name)),
                        shown(is), shown(was));
  };
  for (const auto& [name, value] : a.items()) {
    const auto was = b.find(name);
    if (was == b.end() || *was != value) tell(name, &value, was == b.end() ? nullptr : &*was);
  }
  for (const auto& [name, value] : b.items()) {
    if (!a.contains(name)) tell(name, nullptr, &value);
  }
  return text;
}

/// A lock's paths begin beside it, as a manifest's, or else in the working directory, as those of
/// the command that wrote it.
EvaluationManifest placed(const EvaluationManifest& manifest) {
  try {
    return detail::located(manifest);
  } catch (const NotFound&) {
    EvaluationManifest here = manifest;
    here.beside = ".";
    try {
      return detail::located(here);
    } catch (const NotFound&) {
    }
    throw;
  }
}

}  // namespace

std::string evaluation_lock(const FixedEvaluation& evaluation) {
  return lock_json(evaluation).dump(2) + "\n";
}

FixedEvaluation locked_evaluation(const std::string& file) {
  const std::string text = read_file(file, std::size_t{64} << 20);
  detail::expect_shallow_json(text, "'" + printable(file) + "'");
  json locked;
  try {
    locked = json::parse(text);
  } catch (const json::exception& error) {
    throw FormatError(fmt::format("'{}' is not a lock file: {}", printable(file), error.what()));
  }
  const bool is_lock = locked.is_object() && locked.value("format", json()) == "d5 evaluation lock";
  if (!is_lock || locked.value("schema", json()) != kLockSchema || !locked.contains("evaluation")) {
    throw FormatError(fmt::format("'{}' is not a lock file of schema {}; 'd5 eval lock' writes one",
                                  printable(file), kLockSchema));
  }
  const auto manifest = parse_manifest<EvaluationManifest>(locked["evaluation"].dump(), file);
  FixedEvaluation evaluation = fix_evaluation(placed(manifest));
  json now = lock_json(evaluation, locked);
  now["evaluation"] = json::parse(canonical_json(manifest));  // words as they were locked
  const std::string drift = differences(now, locked);
  if (drift.empty()) return evaluation;
  throw ValueError(fmt::format("'{}' differs from the present state:{}", printable(file), drift));
}

}  // namespace d5
