// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// The group of ranks that communication operators refer to by `name`; "world" is `world()` unless
/// another group has this name.
///
///     name_communication_group("stage", world()->split(stage));
///     communication_group("stage")->all_reduce(data);
///
/// Throws: NotFound, with the known names.
/// Thread safety: both functions.
[[nodiscard]] std::shared_ptr<Communicator> communication_group(std::string_view name);
/// Names a group, or replaces the group of that name, for networks compiled later.
/// Throws: ValueError for a group that does not contain this rank (null), or an empty name.
void name_communication_group(const std::string& name, std::shared_ptr<Communicator> ranks);

}  // namespace d5
