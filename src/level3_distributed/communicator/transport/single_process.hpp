// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// A world of one rank, for a process without a launcher.
[[nodiscard]] std::shared_ptr<Communicator> make_single_process();

}  // namespace d5::detail
