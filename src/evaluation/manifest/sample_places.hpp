// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/manifest/dataset_manifest.hpp"

namespace d5::detail {

/// Places of a data set's files: a folder below the data's, or the store of artefacts, which has
/// each file under its digest.
class SamplePlaces {
 public:
  /// Throws: NotFound with the searched places, if there is neither.
  explicit SamplePlaces(const DatasetManifest& manifest);
  [[nodiscard]] std::string path_of(const SampleFile& sample) const;

 private:
  std::string folder_;  ///< empty: the store
};

/// Files that this machine lacks: there is no folder with the first one, and no store has them.
[[nodiscard]] std::vector<SampleFile> missing_samples(const DatasetManifest& manifest);

}  // namespace d5::detail
