// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/plot.hpp"

namespace d5::detail {

/// An <svg> element of that width for a page that has `colour_rules`; `style` stands in it for a
/// file of its own.
[[nodiscard]] std::string drawn(const Plot& plot, int width, const std::string& style = "");

}  // namespace d5::detail
