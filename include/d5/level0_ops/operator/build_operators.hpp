// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace d5 {

/// Limits of the compiler, for a source that is not trusted.
struct BuildLimits {
  double seconds = std::numeric_limits<double>::infinity();  ///< for each run of it
  std::uint64_t bytes = 0;                                   ///< address space; 0: no limit
};

/// Compiles operators written against `d5/abi.h` into a shared library, and returns its path.
///
/// `source` is a file (.c, .cpp, .cc, .cxx; .cu through nvcc), or C++ code of more than one line.
/// The compiler is $CC, $CXX or $CUDACXX, else cc, c++ or nvcc. $CFLAGS, $CXXFLAGS or $CUDAFLAGS,
/// and $LDLIBS are added to d5's flags.
///
/// The library is cached in the user's cache folder, and recompiled only if the compiler, its
/// flags, the source or an included header has changed, or the library itself: its digest follows
/// its last byte. It is also copied to `output`, if given. `definitions` are macros for the source.
///
///     load_custom_operators(build_operators("log_cosh.cpp"));
///     load_custom_operators(build_operators("median_pooling.cpp", "", {{"DTYPE", "double"}}));
///
/// Throws: FormatError with the compiler's message if it rejects the source, and for a source that
/// breaks the `limits`; Unsupported without a
/// compiler, with advice what to install, and for another kind of file; ValueError for a macro
/// without a name; IoError.
/// Thread safety: all threads; several processes may build the same source concurrently.
[[nodiscard]] std::string build_operators(
    const std::string& source, const std::string& output = {},
    const std::map<std::string, std::string>& definitions = {}, const BuildLimits& limits = {});

/// Whether `path` has the ending of a source that `build_operators` compiles.
[[nodiscard]] bool is_operator_source(const std::string& path);

}  // namespace d5
