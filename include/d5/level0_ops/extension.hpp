// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Loads a library of a user's own parts, of whichever kind: a plug-in (`D5_FRAMEWORK_PLUGIN`),
/// which is a framework and may add optimizers, samplers, data sets, collectives ... to d5's
/// registries; or operators in C (`load_custom_operators`), which become the reference's. Returns
/// what it was, in words: "framework mine 1.0". Its code runs. Throws: IoError if it cannot be
/// opened; Unsupported if it is neither, or of another version; ValueError for names that are
/// taken.
std::string load_extension(const std::string& path);

}  // namespace d5
