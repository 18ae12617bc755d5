// SPDX-License-Identifier: Apache-2.0
#include "d5/core/carried_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "d5/core/error.hpp"

namespace d5 {
namespace {

std::vector<std::string> places() {
  std::vector<std::string> result;
  if (const char* named = std::getenv("D5_SHARE_DIR")) result.emplace_back(named);
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&carried_file), &here) != 0 && here.dli_fname) {
    const std::filesystem::path library(here.dli_fname);
    const auto prefix = library.parent_path() / D5_LIBRARY_TO_SHARE_DIR;
    result.push_back(prefix.lexically_normal().string());
  }
  return result;
}

}  // namespace

std::string carried_file(std::string_view relative) {
  const auto searched = places();
  for (const std::string& place : searched) {
    const auto path = std::filesystem::path(place) / relative;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  throw NotFound(fmt::format("d5 carries no '{}' in {}; set D5_SHARE_DIR to the folder that does",
                             printable(relative), fmt::join(searched, ", ")));
}

}  // namespace d5
