// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/manifest_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "core/entries/path_option.hpp"
#include "core/files/cache_folder.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/level2_training/data/container.hpp"
#include "evaluation/manifest/asset_text.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// The folders in which relative paths begin.
std::vector<fs::path> folders_of(const std::string& beside) {
  std::vector<fs::path> folders{beside};
  if (const char* data = std::getenv("D5_DATA_DIR"); data && *data) folders.emplace_back(data);
  if (const fs::path cache = user_cache(); !cache.empty()) folders.push_back(cache / "data");
  return folders;
}

bool leads_to_files(const std::string& path) {
  std::error_code unreadable;
  if (fs::exists(path, unreadable)) return true;
  try {
    return !container_files(path, "").empty();
  } catch (const NotFound&) {
    return false;
  } catch (const Error&) {  // shards are missing, as opening them says
    return true;
  }
}

}  // namespace

std::vector<std::string> places_of(const std::string& path, const std::string& beside) {
  std::vector<std::string> places;
  for (const fs::path& folder : folders_of(beside)) {
    std::string place = (folder / path).lexically_normal().string();
    if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
  }
  return places;
}

std::string located(const std::string& path, const std::string& beside, const std::string& who) {
  std::string searched;
  for (const std::string& place : places_of(path, beside)) {
    if (leads_to_files(place)) return place;
    searched += fmt::format("{}'{}'", searched.empty() ? "" : ", ", printable(place));
  }
  throw NotFound(
      fmt::format("{}: '{}' leads to no file; searched: {}; a relative path begins beside its "
                  "manifest, or in D5_DATA_DIR",
                  who, printable(path), searched));
}

EntryChoice located(EntryChoice choice, const std::vector<Option>& options,
                    const std::string& beside) {
  const std::string who = printable(choice.name);
  const bool is_fetched = choice.settings.text("download", "false") == "true";
  for (const Option& option : options) {
    if (!is_path(option) && !is_function(option)) continue;
    const std::string text = choice.settings.text(option.name, "");
    const std::size_t end =
        is_function(option) ? std::min(text.rfind("::"), text.size()) : text.size();
    const std::string path = text.substr(0, end);
    if (path.empty() || !asset_named(text).empty()) continue;
    const std::string place = is_fetched ? places_of(path, beside).front()
                                         : located(path, beside, who + ": " + option.name);
    choice.settings.set(option.name, place + text.substr(end));
  }
  return choice;
}

EntryChoice located_reader(const DatasetManifest& manifest) {
  const EntryChoice& reader = manifest.reader.front();
  return located(reader, datasets().at(reader.name).options(), manifest.beside);
}

bool is_framework_file(const std::string& word) {
  const std::string head = word.substr(0, word.find(':'));
  const bool has_options = head.size() < word.size();
  if (has_options && head.find_first_of("/.") == std::string::npos) return false;
  const std::string ending = fs::path(word).extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

EvaluationManifest located(EvaluationManifest manifest) {
  if (manifest.beside.empty()) return manifest;
  const auto locate = [&](std::string& word, const std::string& field) {
    word = located(word, manifest.beside, manifest.reference() + ": " + field);
  };
  for (std::string& word : manifest.models) {
    if (is_manifest_path(word)) locate(word, "models");
  }
  for (std::string& word : manifest.systems) {
    if (is_manifest_path(word)) locate(word, "systems");
  }
  for (std::string& word : manifest.frameworks) {
    if (is_framework_file(word)) locate(word, "frameworks");
  }
  if (is_manifest_path(manifest.dataset)) locate(manifest.dataset, "dataset");
  for (EntryChoice& scenario : manifest.scenarios) {
    scenario = located(scenario, scenarios().at(scenario.name).options(), manifest.beside);
  }
  manifest.beside.clear();
  return manifest;
}

FoundManifest<DatasetManifest> claimed_dataset(const ModelManifest& model,
                                               const AccuracyClaim& claim) {
  if (!is_manifest_path(claim.dataset)) return find_manifest<DatasetManifest>(claim.dataset);
  return find_manifest<DatasetManifest>(
      located(claim.dataset, model.beside, model.reference() + ": dataset"));
}

std::string name_below_places(const std::string& path, const std::string& beside) {
  const fs::path whole = fs::weakly_canonical(path);
  for (const fs::path& folder : folders_of(beside)) {
    const fs::path below =
        whole.lexically_relative(fs::weakly_canonical(folder.empty() ? "." : folder));
    if (!below.empty() && *below.begin() != "..") return below.generic_string();
  }
  return whole.string();
}

}  // namespace d5::detail
