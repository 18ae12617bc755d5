// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/abi.h"
#include "d5/level3_distributed/communicator.hpp"

namespace d5::detail {

/// The ranks as operators written against `d5/abi.h` call them: every call is the communicator's,
/// checked, counted and observed there.
[[nodiscard]] std::shared_ptr<const d5_communicator> c_communicator(
    std::shared_ptr<Communicator> ranks);

}  // namespace d5::detail
