// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// The ranks that communication operators call by `name`; "world" is `world()` unless another is
/// named so.
///
///     name_communication_group("stage", world()->split(stage));
///     communication_group("stage")->all_reduce(data);
///
/// Throws: NotFound, with the names that there are.
/// Thread safety: both functions.
[[nodiscard]] std::shared_ptr<Communicator> communication_group(std::string_view name);
/// From the next network that is compiled on, also in place of an earlier group of that name.
/// Throws: ValueError for a group that this rank is not in (null), or without a name.
void name_communication_group(const std::string& name, std::shared_ptr<Communicator> ranks);

}  // namespace d5
