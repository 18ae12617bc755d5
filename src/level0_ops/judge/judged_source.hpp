// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/operator/build_operators.hpp"

namespace d5::detail {

/// A source that is ready to be judged.
struct JudgedSource {
  std::string path;                        ///< file of the source
  std::string file;                        ///< compiled library, or the source in Python itself
  std::vector<std::string> words;          ///< program that runs it, with its arguments
  std::vector<std::string> readable = {};  ///< folders that the program may read, each with a slash
  std::string sha256 = {};                 ///< digest of the source
  std::string compiler = {}, flags = {};   ///< "g++ 12.2.0"; of a source in Python the interpreter
};

/// Compiles a source in C or C++, and finds the program for it; for one in Python the `python3` in
/// $PATH, which needs NumPy. Throws: as `build_operators`; NotFound without the program;
/// Unsupported without NumPy.
[[nodiscard]] JudgedSource prepare_source(const std::string& source, const BuildLimits& limits);

}  // namespace d5::detail
