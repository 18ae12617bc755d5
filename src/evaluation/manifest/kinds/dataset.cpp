// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/dataset_manifest.hpp"

#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

void SampleFile::declare(ManifestFields& fields) {
  FieldRule digest = digest_rule();
  digest.required = true;
  fields.add("file", file, "below the data set's folder",
             {.required = true,
              .pattern = "(?!/)(?!(.*/)?\\.\\.(/|$))[^\\\\]+",
              .expected = "a path below the folder, without '..'"});
  fields.add("label", label, "the right class, from 0", {.range = {.least = 0}});
  fields.add("bytes", bytes, "of the file", {.required = true, .range = {.least = 0}});
  fields.add("sha256", sha256, "of its bytes", digest);
}

void DatasetSplit::declare(ManifestFields& fields) {
  fields.add("name", name, "what it is called", name_rule());
  fields.add("first", first, "sample, from 0", {.range = {.least = 0}});
  fields.add("count", count, "of samples", {.required = true, .range = {.least = 1}});
}

void DatasetManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("task", task, "what its answers are to: image classification", {.required = true});
  fields.add("licence", licence, "of the samples", {.required = true});
  fields.add("source", source, "where it comes from, for people");
  fields.add("modality", modality, "what a sample is: image, text, audio, tensor");
  fields.add("folder", folder, "of the samples' files: below $D5_DATA_DIR, or the cache's data",
             {.pattern = "(?!/)(?!(.*/)?\\.\\.(/|$))[^\\\\]*",
              .expected = "a path below the data's folder, without '..'"});
  fields.add("samples", samples, "files, one a sample");
  fields.add("reader", reader, "in place of samples: one of d5's data sets", datasets());
  fields.add("part", part, "of what the reader opens", {.words = {"test", "train"}});
  fields.add("labels", labels, "what classes are called, from class 0");
  fields.add("splits", splits, "some of the samples, in a row");
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
