// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/dataset_manifest.hpp"

#include <algorithm>
#include <filesystem>

#include "d5/level2_training/data/dataset.hpp"

namespace d5 {
namespace {

/// Whether a path may lead out of the folders in which relative paths begin.
bool leads_outside(const std::string& path) {
  const std::filesystem::path whole(path);
  return whole.is_absolute() || std::ranges::find(whole, "..") != whole.end();
}

}  // namespace

void SampleFile::declare(ManifestFields& fields) {
  FieldRule digest = digest_rule();
  digest.required = true;
  fields.add("file", file, "path below the data set's folder",
             {.required = true,
              .pattern = "(?!/)(?!(.*/)?\\.\\.(/|$))[^\\\\]+",
              .expected = "a path below the folder, without '..'"});
  fields.add("label", label, "right class, from 0", {.range = {.least = 0}});
  fields.add("bytes", bytes, "size of the file", {.required = true, .range = {.least = 0}});
  fields.add("sha256", sha256, "digest of the file", digest);
}

void DatasetSplit::declare(ManifestFields& fields) {
  fields.add("name", name, "name of the split", name_rule());
  fields.add("first", first, "first sample, from 0", {.range = {.least = 0}});
  fields.add("count", count, "number of samples", {.required = true, .range = {.least = 1}});
}

void DatasetManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("task", task, "task that its answers are for: image classification",
             {.required = true});
  fields.add("licence", licence, "licence of the samples", {.required = true});
  fields.add("source", source, "origin of the data set, for people");
  fields.add("modality", modality, "modality of a sample: image, text, audio, tensor");
  fields.add(
      "folder", folder,
      "folder of the samples' files: beside the manifest, in $D5_DATA_DIR, or in the cache's "
      "data; or absolute",
      {.pattern = "[^\\\\]*",
       .expected = "a path with '/' between its folders",
       .is_local = leads_outside});
  fields.add("samples", samples, "files, one per sample");
  fields.add("reader", reader, "one of d5's data sets, instead of samples", datasets());
  fields.add("part", part, "part of the reader's data set", {.words = {"test", "train"}});
  fields.add("labels", labels, "names of the classes, from class 0");
  fields.add("splits", splits, "consecutive samples, by name");
  if (samples.empty() == reader.empty()) {
    fields.expect("expected either 'samples' or 'reader'");
  } else if (reader.size() > 1) {
    fields.expect("'reader' is a list, expected one data set");
  }
  for (const DatasetSplit& split : splits) {
    const bool beyond = split.first + split.count > static_cast<std::int64_t>(samples.size());
    if (reader.empty() && beyond) {
      fields.expect("split '" + split.name + "' goes beyond the last sample");
    }
  }
}

namespace manifest_kind {

void register_dataset(Registry<ManifestKind>& registry) {
  registry.add("dataset", ManifestKind::of<DatasetManifest>(
                              "samples with their right answers: files with digests, or one of "
                              "d5's data sets"));
}

}  // namespace manifest_kind
}  // namespace d5
