// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "d5/core/files/atomic_file.hpp"

/// Compares output that d5 promises with tests/<path>, a file that a person has read and approved.
/// What differs is written beside the test program as <name>.received; copy it over the approved
/// file if it is right.
inline void check_approved(const std::string& path, const std::string& received) {
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!source) {
    FAIL("set D5_SOURCE_DIR to the folder of d5's sources");
    return;
  }
  const std::string approved = std::string(source) + "/tests/" + path;
  const std::string expected =
      std::filesystem::exists(approved) ? d5::read_file(approved) : "(no file yet)";
  if (received == expected) {
    SUCCEED();
    return;
  }
  const std::string name = std::filesystem::path(path).filename().string() + ".received";
  d5::write_file(name, received);
  FAIL("differs from " << approved << "; see " << name << "\n" << received);
}
