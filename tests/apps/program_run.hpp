// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/temporary_folder.hpp"

namespace d5::testing {

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

struct ProgramRun {
  int status;
  std::string out, err;
};

/// Runs the built program with `arguments`, as a shell reads them. `launcher` stands before it.
inline ProgramRun run_d5(const std::string& arguments, const std::string& launcher = "") {
  const TemporaryFolder folder;
  const std::string command = "timeout 100 " + launcher + " " D5_PROGRAM " " + arguments + " >" +
                              folder / "out" + " 2>" + folder / "err";
  const int status = std::system(command.c_str());
  return {WEXITSTATUS(status), content_of(folder / "out"), content_of(folder / "err")};
}

}  // namespace d5::testing
