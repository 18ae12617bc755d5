// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/locked_files.hpp"

#include <filesystem>
#include <vector>

#include "core/entries/path_option.hpp"
#include "core/files/files_read.hpp"
#include "core/files/sha256.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "evaluation/manifest/manifest_paths.hpp"

namespace d5::detail {
namespace {

/// Adds what the entry's settings name, if it is a file.
template <class E>
void add_named(const EntryChoice& choice, const Registry<E>& registry, const std::string& beside,
               FileDigests& files) {
  const E* entry = registry.find(choice.name);
  if (!entry) return;  // a step that is not allowed, which opening reports
  const EntryChoice there = located(choice, entry->options(), beside);
  for (const Option& option : entry->options()) {
    if (!is_path(option) && !is_function(option)) continue;
    const std::string text = there.settings.text(option.name, "");
    const std::string file = is_function(option) ? text.substr(0, text.rfind("::")) : text;
    std::error_code unreadable;
    if (!std::filesystem::is_regular_file(file, unreadable)) continue;
    files[name_below_places(file, beside)] = sha256_of_file(file);
  }
}

}  // namespace

FileDigests sample_files(const DatasetManifest& manifest) {
  FileDigests digests;
  const FilesRead files;
  const auto samples = open_samples(manifest);
  const std::vector<Artefact> artefacts = samples->artefacts();  // notes what is read later
  for (const FileStamp& file : files.stamps()) {
    digests.try_emplace(name_below_places(file.path(), manifest.beside),
                        sha256_of_file(file.path()));
  }
  if (!digests.empty()) return digests;
  for (const Artefact& artefact : artefacts) {
    if (!artefact.sha256.empty()) digests[artefact.name] = artefact.sha256;
  }
  return digests;
}

FileDigests files_left(const DatasetManifest& manifest, const FileDigests& locked) {
  FileDigests digests;
  for (const auto& [name, digest] : locked) {
    for (const std::string& place : places_of(name, manifest.beside)) {
      std::error_code unreadable;
      if (!std::filesystem::is_regular_file(place, unreadable)) continue;
      digests[name] = sha256_of_file(place);
      break;
    }
  }
  return digests;
}

FileDigests named_files(const FixedEvaluation& evaluation) {
  FileDigests files;
  for (const EntryChoice& scenario : evaluation.manifest.scenarios) {
    add_named(scenario, scenarios(), evaluation.manifest.beside, files);
  }
  for (const auto& model : evaluation.models) {
    for (const ModelInput& input : model.manifest.inputs) {
      for (const EntryChoice& step : input.steps) {
        add_named(step, sample_steps(), model.manifest.beside, files);
      }
    }
  }
  return files;
}

}  // namespace d5::detail
