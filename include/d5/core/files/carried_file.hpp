// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace d5 {

/// The path of a file or folder that d5 ships: "recipes/mnist-lenet.yaml", "data/mnist-sample".
/// Searches $D5_SHARE_DIR, the installation, then the build's source tree. Throws: NotFound with
/// the searched folders.
[[nodiscard]] std::string carried_file(std::string_view relative);

/// Sorted names of the YAML files that d5 ships in a folder: "mnist-lenet" in "recipes".
/// Throws: NotFound.
[[nodiscard]] std::vector<std::string> carried_names(std::string_view folder);
/// `file_or_name` itself if it is a file's path; otherwise the path of the shipped YAML file of
/// that name in `folder`. `kind` is the noun for messages. Throws: NotFound with the nearest known
/// name.
[[nodiscard]] std::string file_or_carried(std::string_view kind, std::string_view folder,
                                          const std::string& file_or_name);

/// The include folder that holds `d5/abi.h`: $D5_INCLUDE_DIR, the installed headers, or the source
/// tree. Throws: NotFound with the searched folders.
[[nodiscard]] std::string header_folder();

}  // namespace d5
