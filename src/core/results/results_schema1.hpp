// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Converts a record of schema 1 to schema 2.
void from_schema1(Measurement& measurement);

}  // namespace d5::detail
