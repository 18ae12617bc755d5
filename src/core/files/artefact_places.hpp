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

/// What lies where in a store's folder: `sha256/` the files, `about/` what people call each and
/// where it came from, `locks/`.
class ArtefactPlaces {
 public:
  explicit ArtefactPlaces(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::filesystem::path files() const { return folder_ / "sha256"; }
  [[nodiscard]] std::filesystem::path file(const std::string& sha256) const {
    return files() / sha256;
  }
  /// What was unpacked of it.
  [[nodiscard]] std::filesystem::path unpacked(const std::string& sha256) const {
    return folder_ / "unpacked" / sha256;
  }
  /// Shared by the digests that begin alike: there are few, so that none need ever be removed.
  [[nodiscard]] std::string lock(const std::string& sha256) const {
    return (folder_ / "locks" / sha256.substr(0, 2)).string();
  }
  /// Throws: IoError.
  void make() const;

  /// Notes name and addresses, and that the file was used now. Throws: IoError.
  void note(const Asset& asset) const;
  /// As it was noted, with its size as it is now. A note that is lost or broken takes the name
  /// away, no more.
  [[nodiscard]] Asset asset(const std::string& sha256) const;
  /// When it was noted last, s since 1970.
  [[nodiscard]] std::int64_t used(const std::string& sha256) const;
  /// The file, its note, and what was unpacked of it; false where there is no file, or it cannot be
  /// removed.
  bool remove(const std::string& sha256) const;

 private:
  [[nodiscard]] std::filesystem::path about(const std::string& sha256) const {
    return folder_ / "about" / (sha256 + ".json");
  }
  std::filesystem::path folder_;
};

}  // namespace d5::detail
