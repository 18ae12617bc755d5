// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// Draws the absolute values |x| of a tensor of any rank as an image: uint8, height x width x 3.
///
///     write_file("difference.png", encode_png(heatmap(absolute_difference(got, expected))));
///
/// The last two dimensions form a tile. The tiles of the leading dimensions form a roughly square
/// grid, row by row. The image has at most 1,024 pixels in each direction: a pixel is then the
/// maximum of several elements. Small tensors are magnified.
///
/// Colours range from black (0) over blue and green to light yellow (the largest finite value),
/// with monotonically increasing lightness; a colour bar below shows that value. Infinities are
/// orange. A pixel with any NaN is red.
///
/// Throws: TypeError for types outside `NumberTypes`, ShapeError for an empty tensor.
/// Source: Green, "A Colour Scheme for the Display of Astronomical Intensity Images" (2011).
[[nodiscard]] Tensor heatmap(const Tensor& values);

}  // namespace d5
