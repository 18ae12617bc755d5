// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level1_network/validation/network_check.hpp"

namespace d5::detail {

/// Whether a folder's expected outputs are compared, on its own inputs.
[[nodiscard]] bool expects_outputs(const std::string& model, const NetworkCheckOptions& options);

}  // namespace d5::detail
