// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5 {

/// The path of a file or folder that d5 carries: "recipes/mnist-lenet.yaml", "data/mnist-sample".
/// Looked for in $D5_SHARE_DIR, where d5 is installed, then where it was built.
/// Throws: NotFound with the places.
[[nodiscard]] std::string carried_file(std::string_view relative);

}  // namespace d5
