// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/evaluation/manifest/model_manifest.hpp"

namespace d5 {

/// One sample that is a file.
struct SampleFile {
  std::string file;  ///< below the data set's folder
  std::int64_t label = 0;
  std::int64_t bytes = 0;
  std::string sha256;

  void declare(ManifestFields& fields);
};

/// Some of the samples, in a row.
struct DatasetSplit {
  std::string name;
  std::int64_t first = 0, count = 0;

  void declare(ManifestFields& fields);
};

/// Samples with their right answers: files with digests, or a data set that level 2 reads.
struct DatasetManifest : ManifestIdentity {
  static constexpr const char* kKind = "dataset";
  std::string task;
  std::string licence;
  std::string source = {};
  std::string modality = "image";
  std::string folder = {};  ///< of `samples`: below $D5_DATA_DIR, or the cache's "data"
  std::vector<SampleFile> samples = {};
  std::vector<EntryChoice> reader = {};  ///< in place of them: one of `datasets()`
  std::string part = "test";             ///< of it: "train", "test"
  std::vector<std::string> labels = {};  ///< what classes are called, by number
  std::vector<DatasetSplit> splits = {};

  void declare(ManifestFields& fields);
};

}  // namespace d5
