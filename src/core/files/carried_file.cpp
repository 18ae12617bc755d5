// SPDX-License-Identifier: Apache-2.0
#include "d5/core/files/carried_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCarried = ".yaml";

/// The folder in the environment variable `variable`, then the folder `beside` d5's library.
std::vector<fs::path> places(const char* variable, const char* beside) {
  std::vector<fs::path> result;
  if (const char* named = std::getenv(variable)) result.emplace_back(named);
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&carried_file), &here) != 0 && here.dli_fname) {
    const fs::path library(here.dli_fname);
    result.push_back((library.parent_path() / beside).lexically_normal());
  }
  return result;
}

std::string names_of(const std::vector<fs::path>& places) {
  std::vector<std::string> names;
  for (const auto& place : places) names.push_back(place.string());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string carried_file(std::string_view relative) {
  const auto searched = places("D5_SHARE_DIR", D5_LIBRARY_TO_SHARE_DIR);
  for (const fs::path& place : searched) {
    const fs::path path = place / relative;
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.string();
  }
  throw NotFound(fmt::format("d5 has no file '{}' in {}; set D5_SHARE_DIR to the folder that does",
                             printable(relative), names_of(searched)));
}

std::vector<std::string> carried_names(std::string_view folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(carried_file(folder))) {
    if (entry.path().extension() == kCarried) names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string file_or_carried(std::string_view kind, std::string_view folder,
                            const std::string& file_or_name) {
  std::error_code ignored;
  const bool is_word = file_or_name.find_first_of("/.") == std::string::npos;
  if (!is_word || fs::exists(file_or_name, ignored)) return file_or_name;
  const auto known = carried_names(folder);
  if (std::ranges::find(known, file_or_name) == known.end()) {
    throw_unknown_name(kind, file_or_name, known);
  }
  return carried_file(fmt::format("{}/{}{}", folder, file_or_name, kCarried));
}

std::string header_folder() {
  const auto searched = places("D5_INCLUDE_DIR", D5_LIBRARY_TO_INCLUDE_DIR);
  for (const fs::path& place : searched) {
    std::error_code ignored;
    if (fs::exists(place / "d5" / "abi.h", ignored)) return place.string();
  }
  throw NotFound(
      fmt::format("there is no d5/abi.h in {}; set D5_INCLUDE_DIR to the folder that "
                  "has d5's headers",
                  names_of(searched)));
}

}  // namespace d5
