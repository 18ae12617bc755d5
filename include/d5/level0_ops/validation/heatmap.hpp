// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// A tensor of any rank as a picture of its elements' sizes, |x|: uint8, height x width x 3.
///
///     write_file("difference.png", encode_png(heatmap(absolute_difference(got, expected))));
///
/// The last two dimensions are a tile; the leading ones are tiles in a grid, row by row, about as
/// wide as high. The picture has at most 1,024 pixels in a direction: of more elements a pixel is
/// the largest. Few elements are drawn with several pixels each.
///
/// Colours go from black, which is 0, over blue and green to light yellow, the largest finite size,
/// and become steadily lighter; a scale below tells that size. Infinities are orange. NaN is red,
/// whatever else a pixel stands for.
///
/// Throws: TypeError for what is none of `NumberTypes`, ShapeError for no elements.
/// Source: Green, "A Colour Scheme for the Display of Astronomical Intensity Images" (2011).
[[nodiscard]] Tensor heatmap(const Tensor& values);

}  // namespace d5
