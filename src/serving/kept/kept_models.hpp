// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/files/file_lock.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "serving/kept/file_uploads.hpp"

namespace d5::detail {

/// Models and data sets of others that a server keeps in a folder: manifests by name, files by
/// digest. A manifest is there only with all its files. One at a time in a process, which finds
/// them by name while it lives.
///
/// Thread safety: all functions. Throws: IoError.
class KeptModels {
 public:
  /// `most_bytes` is the quota of all files. Throws: also if another server uses the folder.
  KeptModels(const std::string& folder, std::uint64_t most_bytes);
  ~KeptModels();
  KeptModels(const KeptModels&) = delete;
  KeptModels& operator=(const KeptModels&) = delete;

  struct Answer {
    enum class What {
      added,
      was_there,  ///< the same manifest
      missing,    ///< nothing was kept: `files` must be uploaded first
      conflict,   ///< nothing was kept: `reason`
      too_large   ///< nothing was kept: `reason`
    } what = What::added;
    std::string reason = {};
    std::vector<Asset> files = {};
    std::string reference = {}, sha256 = {};
  };
  enum class Replace { no, yes };
  /// Keeps a manifest, of a model or a data set. Throws: FormatError with its faults.
  [[nodiscard]] Answer add(const std::string& kind, const std::string& text, Replace replace);
  /// The name of a manifest. Throws: as `add`.
  [[nodiscard]] static std::string name_of(const std::string& kind, const std::string& text);
  /// Removes a manifest, and its files that no other one names. Throws: NotFound for a name that is
  /// not kept; ValueError for a model that d5 carries.
  void remove(const std::string& kind, const std::string& word);
  /// Whether a name is kept, rather than carried by d5 or unknown.
  [[nodiscard]] bool has(const std::string& kind, const std::string& name) const;

  [[nodiscard]] FileUploads& uploads() { return uploads_; }

 private:
  struct Manifest {
    std::string kind, name, version, canonical, digest;
    std::vector<Asset> files;
    [[nodiscard]] std::string reference() const { return name + "@" + version; }
  };
  [[nodiscard]] static Manifest read(const std::string& kind, const std::string& text,
                                     const std::string& file);
  [[nodiscard]] Manifest kept(const std::string& kind, const std::string& name) const;
  [[nodiscard]] std::string conflict_of(const Manifest& manifest, Replace replace) const;
  void keep(const Manifest& manifest) const;
  void drop(const Manifest& manifest) const;

  std::string folder_;
  FileLock lock_;
  ArtefactStore store_;
  FileUploads uploads_;
  std::mutex mutex_;  ///< one change of manifests at a time
};

}  // namespace d5::detail
