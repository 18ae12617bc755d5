// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5 {

/// The path of a file or folder that d5 carries: "recipes/mnist-lenet.yaml", "data/mnist-sample".
/// Looked for in $D5_SHARE_DIR, where d5 is installed, then where it was built.
/// Throws: NotFound with the places.
[[nodiscard]] std::string carried_file(std::string_view relative);

/// The folder to compile against, with `d5/abi.h` in it: $D5_INCLUDE_DIR, that of the installed
/// headers, or where d5 was built. Throws: NotFound with the places.
[[nodiscard]] std::string header_folder();

}  // namespace d5
