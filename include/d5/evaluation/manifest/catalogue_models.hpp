// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5 {

/// Names of the catalogue's models for a task, in order; with an empty task, of all. A task may be
/// written with dashes: "file-type-detection". Throws: NotFound with the known tasks and the
/// nearest.
[[nodiscard]] std::vector<std::string> catalogue_models(const std::string& task);

}  // namespace d5
