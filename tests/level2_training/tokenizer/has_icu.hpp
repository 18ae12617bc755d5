// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/tokenizer/unicode.hpp"

namespace d5::testing {

/// Whether this d5 has ICU; warns where it has not.
inline bool has_icu() {
  try {
    return !detail::character_classes().empty();
  } catch (const Unsupported& error) {
    WARN("skipped: " << error.what());
    return false;
  }
}

}  // namespace d5::testing
