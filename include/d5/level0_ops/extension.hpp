// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Loads a library of a user's own parts, of whichever kind: a plug-in (`D5_FRAMEWORK_PLUGIN`),
/// which is a framework and may add optimizers, samplers, data sets, collectives ... to d5's
/// registries; or operators against `d5/abi.h` (`load_custom_operators`), also as a source, which
/// is compiled (`build_operators`). Returns what it was, in words: "framework mine 1.0". Its code
/// runs. Throws: IoError if it cannot be opened; Unsupported if it is neither, or of another
/// version; ValueError for names that are taken; what `build_operators` throws.
std::string load_extension(const std::string& path);

}  // namespace d5
