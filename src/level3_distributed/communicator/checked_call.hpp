// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/communicator/communication_call.hpp"

namespace d5::detail {

/// Checks a call of rank `rank` of `size`, and fills in its bytes.
/// Throws: TypeError, ShapeError, ValueError, Unsupported.
void check_call(CommunicationCall& call, int rank, int size);

}  // namespace d5::detail
