// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace d5 {

/// Compiles operators written against `d5/abi.h` into a shared library, and returns its path.
///
/// `source` is a file (.c, .cpp, .cc, .cxx; .cu through nvcc), or the text of one in C++, which has
/// more than one line. The compiler is $CC, $CXX or $CUDACXX, or else cc, c++ or nvcc; $CFLAGS,
/// $CXXFLAGS or $CUDAFLAGS and $LDLIBS are added to what d5 gives it.
///
/// The library is kept in the user's cache folder, and is compiled again only where the compiler,
/// its flags, the source or a header that it reads is another. With `output` it is put there, too.
/// `definitions` are macros that the source may leave open.
///
///     load_custom_operators(build_operators("log_cosh.cpp"));
///     load_custom_operators(build_operators("median_pooling.cpp", "", {{"DTYPE", "double"}}));
///
/// Throws: FormatError with the compiler's own message if it refuses the source; Unsupported if
/// there is no compiler, saying what to install, and for another kind of file; ValueError for a
/// macro that has no name; IoError.
/// Thread safety: yes; several processes may build the same at once, too.
[[nodiscard]] std::string build_operators(
    const std::string& source, const std::string& output = {},
    const std::map<std::string, std::string>& definitions = {});

/// Whether `path` has the ending of a source that `build_operators` compiles.
[[nodiscard]] bool is_operator_source(const std::string& path);

}  // namespace d5
