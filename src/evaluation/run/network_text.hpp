// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// The steps with each setting "network:KEY" replaced by that text of the network's metadata, which
/// `metadata` reads if a setting asks for it. Throws: NotFound, with the known keys.
[[nodiscard]] std::vector<EntryChoice> with_network_text(
    std::vector<EntryChoice> steps,
    const std::function<std::map<std::string, std::string>()>& metadata);

}  // namespace d5::detail
