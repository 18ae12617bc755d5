// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "d5/core/tensor/device.hpp"

namespace d5::test {

/// The device of the plug-in "toy" (tests/core/plugins), which the build lays beside the tests.
inline Device toy(int index = 0) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "plugins";
  setenv("D5_PLUGIN_PATH", folder.c_str(), 1);
  return device_from_name("toy:" + std::to_string(index));
}

}  // namespace d5::test
