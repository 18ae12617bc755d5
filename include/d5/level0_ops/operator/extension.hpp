// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace d5 {

/// Loads a user's extension, and runs its code. It may be a plug-in (`D5_FRAMEWORK_PLUGIN`), which
/// is a framework and may add optimizers, samplers, data sets, collectives ... to d5's registries;
/// operators against `d5/abi.h` (`load_custom_operators`), also as source code (`build_operators`);
/// or a file of a registered kind (`add_extension_loader`). Returns a description: "framework mine
/// 1.0".
/// Throws: IoError if it cannot be opened; Unsupported for another kind of file or another version;
/// ValueError for names that are taken; what `build_operators` or the loader throws.
std::string load_extension(const std::string& path);

/// Loads a file and returns its description, as `load_extension`.
using LoadExtension = std::function<std::string(const std::string& path)>;
/// Registers the loader of files that end in `suffix` (".py"). For a suffix without a loader,
/// `load_extension` searches `plugin_path()` for the library `d5_loader_<suffix without dot>.so`,
/// whose function `void d5_start_loader()` registers it. Throws: ValueError if the suffix is taken.
void add_extension_loader(const std::string& suffix, LoadExtension load);

}  // namespace d5
