// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "level0_ops/operator/composed_operator.hpp"

namespace d5::detail {

enum class FirstElement : std::uint8_t { low, high };  ///< position of the first element in a byte

/// Unpacks elements of `bits` (2, 4 or 8) from the bytes of the last dimension to uint8. Throws:
/// ValueError for another number of bits.
[[nodiscard]] Term unpacked(Composition& c, Term bytes, std::int64_t bits, FirstElement first);

}  // namespace d5::detail
