// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/published/data_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

std::string data_file(const std::string& folder, const std::string& name) {
  const auto plain = std::filesystem::path(folder) / name;
  const auto packed = std::filesystem::path(folder) / (name + ".gz");
  std::error_code ignored;
  for (const auto& path : {packed, plain}) {
    if (std::filesystem::is_regular_file(path, ignored)) return path.string();
  }
  throw IoError(
      fmt::format("folder '{}' holds neither {}.gz nor {}; give the folder of the data set",
                  printable(folder), name, name));
}

}  // namespace d5::detail
