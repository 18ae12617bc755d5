// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// Every rank's `mine`, in rank order, on every rank. Texts must not contain zero bytes. A
/// collective.
[[nodiscard]] std::vector<std::string> gather_texts(Communicator& ranks, const std::string& mine);

}  // namespace d5::detail
