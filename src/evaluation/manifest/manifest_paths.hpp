// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/evaluation/manifest/evaluation_manifest.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"

namespace d5::detail {

/// Places to which a path of a manifest may lead, in the order of the search: beside the manifest,
/// in $D5_DATA_DIR, in the cache's data. `beside` is `ManifestIdentity::beside`. An absolute path
/// leads to itself.
[[nodiscard]] std::vector<std::string> places_of(const std::string& path,
                                                 const std::string& beside);

/// The first of these places that has a file or a folder, or files that fit a pattern, or the
/// shards of a container. `who` begins the message. Throws: NotFound with all places.
[[nodiscard]] std::string located(const std::string& path, const std::string& beside,
                                  const std::string& who);

/// An entry whose settings lead to files: relative paths in them replaced by what they lead to.
/// `options` are the entry's, which say which of its settings are paths. "asset:NAME" stays, for it
/// is a file of the model. Throws: as above.
[[nodiscard]] EntryChoice located(EntryChoice choice, const std::vector<Option>& options,
                                  const std::string& beside);

/// The reader of a data set, likewise. It has one.
[[nodiscard]] EntryChoice located_reader(const DatasetManifest& manifest);

/// Whether a framework's word is the file of a manifest. "openai:http://host/m:tokenizer=t.json" is
/// none: a plain name with options is no file, whatever they end with ("./a:b.yaml" is one).
[[nodiscard]] bool is_framework_file(const std::string& word);

/// An evaluation whose words and scenarios are independent of its file's place: `beside` is empty.
/// Throws: as above.
[[nodiscard]] EvaluationManifest located(EvaluationManifest manifest);

/// The data set of a model's claim. Throws: as `find_manifest`, and as above.
[[nodiscard]] FoundManifest<DatasetManifest> claimed_dataset(const ModelManifest& model,
                                                             const AccuracyClaim& claim);

/// What `path` is called in a lock file: relative to the place that holds it, or else absolute.
[[nodiscard]] std::string name_below_places(const std::string& path, const std::string& beside);

}  // namespace d5::detail
