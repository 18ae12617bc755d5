// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::conformance {

/// Why nothing can be said of the framework here; empty if it is there. `load` is a file that
/// brings it, or empty for one among the plug-ins.
[[nodiscard]] std::string why_absent(const std::string& framework, const std::string& load = {});

}  // namespace d5::conformance
