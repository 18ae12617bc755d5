// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "d5/core/files/artefact_store.hpp"

namespace d5::detail {

/// 64 lower-case hexadecimal digits.
[[nodiscard]] bool is_digest(std::string_view text);

/// Layout of a store's folder: the files in `sha256/`, their names and addresses in `about/`, and
/// `locks/`.
class ArtefactPlaces {
 public:
  explicit ArtefactPlaces(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::filesystem::path files() const { return folder_ / "sha256"; }
  [[nodiscard]] std::filesystem::path file(const std::string& sha256) const {
    return files() / sha256;
  }
  /// The folder of the unpacked archive.
  [[nodiscard]] std::filesystem::path unpacked(const std::string& sha256) const {
    return folder_ / "unpacked" / sha256;
  }
  /// Digests with a common prefix share a lock: there are few, so none needs to be removed.
  [[nodiscard]] std::string lock(const std::string& sha256) const {
    return (folder_ / "locks" / sha256.substr(0, 2)).string();
  }
  /// Throws: IoError.
  void make() const;

  /// Stores name and addresses, and the present time as that of the last use. Throws: IoError.
  void note(const Asset& asset) const;
  /// The stored asset, with its present size. If its note is lost or broken, only the name is
  /// missing.
  [[nodiscard]] Asset asset(const std::string& sha256) const;
  /// The time of the last `note`, s since 1970.
  [[nodiscard]] std::int64_t used(const std::string& sha256) const;
  /// Removes the file, its note and its unpacked folder; false if there is no file, or it cannot be
  /// removed.
  bool remove(const std::string& sha256) const;

 private:
  [[nodiscard]] std::filesystem::path about(const std::string& sha256) const {
    return folder_ / "about" / (sha256 + ".json");
  }
  std::filesystem::path folder_;
};

}  // namespace d5::detail
