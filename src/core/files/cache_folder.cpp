// SPDX-License-Identifier: Apache-2.0
#include "core/files/cache_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"

namespace d5::detail {

namespace fs = std::filesystem;

fs::path user_cache() {
  // The XDG base directory specification: a relative path is to be ignored.
  const char* named = std::getenv("XDG_CACHE_HOME");
  if (named && fs::path(named).is_absolute()) return fs::path(named) / "d5";
  const char* home = std::getenv("HOME");
  return home && *home ? fs::path(home) / ".cache" / "d5" : fs::path();
}

fs::path kept_folder() {
  const char* named = std::getenv("D5_CACHE_DIR");
  return named && *named ? fs::path(named) : user_cache();
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

fs::path measured_file(std::string_view kind, std::string_view words) {
  const fs::path folder = kept_folder();
  if (folder.empty()) return {};
  constexpr std::size_t kDigits = 12;
  return folder / fmt::format("{}-{}.json", kind, sha256(words).substr(0, kDigits));
}

void keep_measured(const fs::path& file, std::string_view content) {
  if (file.empty()) {
    throw IoError("there is no folder for stored measurements; set D5_CACHE_DIR to one");
  }
  std::error_code error;
  fs::create_directories(file.parent_path(), error);  // reported by writing
  try {
    write_file(file.string(), content);
  } catch (const IoError& failure) {
    throw IoError(fmt::format("{}; D5_CACHE_DIR selects another folder for stored measurements",
                              failure.what()));
  }
}

}  // namespace d5::detail
