// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/tensor/random.hpp"

namespace d5::fuzz {

/// `text` with some of its values replaced, taken away, moved or given other names; still JSON,
/// where `text` is.
[[nodiscard]] std::string with_other_values(const std::string& text, RandomStream& random);

}  // namespace d5::fuzz
