// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/report/label_places.hpp"
#include "core/report/plot_layout.hpp"
#include "d5/core/report/plot.hpp"

namespace d5::detail {

/// "12.0 3.5", for a path.
[[nodiscard]] std::string at(double x, double y);

/// The outline of a series' dot, for a path.
[[nodiscard]] std::string dot_at(Pixel point, std::size_t series);

/// Radius of the mark at its point, in pixels.
[[nodiscard]] double radius_of(const PlotMark& mark);

/// The mark's points in pixels, without those that are not shown.
[[nodiscard]] std::vector<Pixel> pixels_of(const PlotMark& mark, const PlotLayout& layout);

/// The mark's <path> elements, in `currentColor`; empty if it has no shape.
[[nodiscard]] std::string paths_of(const PlotMark& mark, const std::vector<Pixel>& points,
                                   const PlotLayout& layout);

}  // namespace d5::detail
