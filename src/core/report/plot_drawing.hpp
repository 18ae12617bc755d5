// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/report/plot.hpp"

namespace d5::detail {

/// An <svg> element of that width for a page with `colour_rules`.
[[nodiscard]] std::string drawn(const Plot& plot, int width);

/// The legend key of a series, as an <svg> element.
[[nodiscard]] std::string drawn_key(std::size_t series);

}  // namespace d5::detail
