// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/temporary_folder.hpp"

namespace d5::testing {

/// What d5 keeps lies in an empty folder while it lives.
class OwnCacheFolder {
 public:
  OwnCacheFolder() {
    if (const char* before = std::getenv(kName)) before_ = before;
    setenv(kName, folder_.path().c_str(), 1);
  }
  ~OwnCacheFolder() {
    if (before_) {
      setenv(kName, before_->c_str(), 1);
    } else {
      unsetenv(kName);
    }
  }
  OwnCacheFolder(const OwnCacheFolder&) = delete;
  OwnCacheFolder& operator=(const OwnCacheFolder&) = delete;

  /// Kept files, but for the processor's best speed: any measurement that is faster replaces it.
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& name : folder_.names()) {
      if (!name.starts_with("speed-")) files.emplace_back(folder_ / name);
    }
    return files;
  }

 private:
  static constexpr const char* kName = "D5_CACHE_DIR";
  TemporaryFolder folder_;
  std::optional<std::string> before_;
};

}  // namespace d5::testing
