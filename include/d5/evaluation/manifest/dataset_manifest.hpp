// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/evaluation/manifest/model_manifest.hpp"

namespace d5 {

/// One sample, which is a file.
struct SampleFile {
  std::string file;  ///< path below the data set's folder
  std::int64_t label = 0;
  std::int64_t bytes = 0;
  std::string sha256;

  void declare(ManifestFields& fields);
};

/// Consecutive samples.
struct DatasetSplit {
  std::string name;
  std::int64_t first = 0, count = 0;

  void declare(ManifestFields& fields);
};

/// Samples with their right answers: files with digests, or a data set of level 2.
struct DatasetManifest : ManifestIdentity {
  static constexpr const char* kKind = "dataset";
  std::string task;
  std::string licence;
  std::string source = {};
  std::string modality = "image";
  std::string folder = {};  ///< folder of `samples`: below $D5_DATA_DIR, or the cache's "data"
  std::vector<SampleFile> samples = {};
  std::vector<EntryChoice> reader = {};  ///< one of `datasets()`, instead of `samples`
  std::string part = "test";             ///< part of the reader's data set: "train", "test"
  std::vector<std::string> labels = {};  ///< names of classes, by number
  std::vector<DatasetSplit> splits = {};

  void declare(ManifestFields& fields);
};

}  // namespace d5
