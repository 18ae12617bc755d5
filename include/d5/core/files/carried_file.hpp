// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace d5 {

/// The path of a file or folder that d5 carries: "recipes/mnist-lenet.yaml", "data/mnist-sample".
/// Looked for in $D5_SHARE_DIR, where d5 is installed, then where it was built.
/// Throws: NotFound with the places.
[[nodiscard]] std::string carried_file(std::string_view relative);

/// Names of the YAML files that d5 carries in a folder, sorted: "mnist-lenet" of "recipes".
/// Throws: NotFound.
[[nodiscard]] std::vector<std::string> carried_names(std::string_view folder);
/// `file_or_name` as it is where it is a file's path; the path of the YAML file of this name that
/// d5 carries in `folder` where it is a word that no file here has. `kind` is the word for
/// messages. Throws: NotFound with the nearest for a word that is no name.
[[nodiscard]] std::string file_or_carried(std::string_view kind, std::string_view folder,
                                          const std::string& file_or_name);

/// The folder to compile against, with `d5/abi.h` in it: $D5_INCLUDE_DIR, that of the installed
/// headers, or where d5 was built. Throws: NotFound with the places.
[[nodiscard]] std::string header_folder();

}  // namespace d5
