// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// Names in the symbol tables of an ELF object.
struct ObjectSymbols {
  std::vector<std::string> undefined = {};  ///< taken from loaded libraries
  std::vector<std::string> defined =
      {};                 ///< its own, with those of libraries that are linked into it
  bool stripped = false;  ///< it has no table of its hidden names
};
/// Throws: FormatError if the file is no 64-bit ELF object of this machine's byte order; IoError.
/// Source: System V Application Binary Interface, "Symbol Table".
[[nodiscard]] ObjectSymbols symbols_of(const std::string& path);

/// Whether a symbol belongs to a forbidden library: its name has `word` in it or, for "blas", is
/// that of a routine of BLAS, as sgemm_ or cblas_dgemv.
[[nodiscard]] bool is_of_library(const std::string& symbol, const std::string& word);

/// Throws: JudgeFault for a symbol of a library in `forbidden`: one that is linked into the object
/// has no file that could be refused.
void expect_none_of(const std::vector<std::string>& forbidden, const ObjectSymbols& symbols);

}  // namespace d5::detail
