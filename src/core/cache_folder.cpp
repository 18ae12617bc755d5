// SPDX-License-Identifier: Apache-2.0
#include "core/cache_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "d5/core/error.hpp"

namespace d5::detail {

namespace fs = std::filesystem;

fs::path user_cache() {
  // The XDG base directory specification: a relative path is to be ignored.
  const char* named = std::getenv("XDG_CACHE_HOME");
  if (named && fs::path(named).is_absolute()) return fs::path(named) / "d5";
  const char* home = std::getenv("HOME");
  return home && *home ? fs::path(home) / ".cache" / "d5" : fs::path();
}

std::string cache_folder(std::string_view part) {
  const fs::path cache = user_cache();
  if (cache.empty()) {
    throw IoError("there is no cache folder: set HOME, or XDG_CACHE_HOME to a folder");
  }
  const fs::path folder = cache / part;
  std::error_code error;
  if (fs::create_directories(folder, error)) {
    fs::permissions(folder, fs::perms::owner_all, error);
  }
  if (error) {
    throw IoError(fmt::format("cache folder '{}': {}; XDG_CACHE_HOME names another",
                              printable(folder.string()), error.message()));
  }
  return folder.string();
}

}  // namespace d5::detail
