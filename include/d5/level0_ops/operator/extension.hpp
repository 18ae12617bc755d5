// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace d5 {

/// Loads a library of a user's own parts, of whichever kind: a plug-in (`D5_FRAMEWORK_PLUGIN`),
/// which is a framework and may add optimizers, samplers, data sets, collectives ... to d5's
/// registries; or operators against `d5/abi.h` (`load_custom_operators`), also as a source, which
/// is compiled (`build_operators`); or a file of a kind that somebody loads
/// (`add_extension_loader`). Returns what it was, in words: "framework mine 1.0". Its code runs.
/// Throws: IoError if it cannot be opened; Unsupported if it is neither, or of another version;
/// ValueError for names that are taken; what `build_operators` or the loader throws.
std::string load_extension(const std::string& path);

/// Loads the file, and returns what it was, as `load_extension` does.
using LoadExtension = std::function<std::string(const std::string& path)>;
/// Files that end in `suffix` (".py") are loaded so from now on. Where nobody did this yet,
/// `load_extension` looks for the library `d5_loader_<suffix without dot>.so` in `plugin_path()`,
/// whose function `void d5_start_loader()` does it. Throws: ValueError if the suffix is taken.
void add_extension_loader(const std::string& suffix, LoadExtension load);

}  // namespace d5
