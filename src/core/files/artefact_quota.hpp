// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::detail {

/// The size limit of a store of artefacts, $D5_ARTEFACT_QUOTA; the largest number without one.
/// Throws: ValueError for text that is no size.
[[nodiscard]] std::uint64_t artefact_quota();

}  // namespace d5::detail
