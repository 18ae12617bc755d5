// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// Creates an empty temporary folder whose name contains `what`, and returns its path. Throws:
/// IoError.
[[nodiscard]] inline std::string make_scratch_folder(std::string_view what) {
  const auto place = std::filesystem::temp_directory_path();
  std::string path = place / fmt::format("d5-{}-XXXXXX", what);
  if (!mkdtemp(path.data())) throw IoError("no folder can be made in " + place.string());
  return path;
}

/// Removes the folder with its content, and ignores errors.
inline void remove_scratch_folder(const std::string& path) noexcept {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

/// A temporary folder that is removed by the destructor.
class ScratchFolder {
 public:
  /// Throws: IoError.
  explicit ScratchFolder(std::string_view what) : path_(make_scratch_folder(what)) {}
  ~ScratchFolder() { remove_scratch_folder(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string operator/(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
};

}  // namespace d5::detail
