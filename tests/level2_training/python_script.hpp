// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace d5::test {

/// Runs tests/level2_training/NAME under the environment's Python. False, with a warning, where
/// there is none, or it lacks what the script imports (status 3).
inline bool run_script(const std::string& name, const std::string& arguments) {
  const char* python = std::getenv("D5_PYTHON");
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!python || !source) {
    WARN("skipped: needs D5_PYTHON and D5_SOURCE_DIR");
    return false;
  }
  const int status = std::system(
      (std::string(python) + " " + source + "/tests/level2_training/" + name + " " + arguments)
          .c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
    WARN("skipped: this Python has no torch");
    return false;
  }
  REQUIRE(status == 0);
  return true;
}

/// A file of float64.
inline std::vector<double> read_doubles(const std::filesystem::path& path) {
  std::vector<double> values(std::filesystem::file_size(path) / sizeof(double));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(values.data()),
            std::streamsize(values.size() * sizeof(double)));
  return values;
}

}  // namespace d5::test
