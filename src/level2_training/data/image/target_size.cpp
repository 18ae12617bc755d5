// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/target_size.hpp"

#include <cmath>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/image/layout.hpp"

namespace d5::detail {

void TargetSize::declare(OptionList& options) {
  options.add("size", size,
              "size of the shorter side, keeping the aspect ratio; 0: use height and width",
              {.least = 0, .most = 65536});
  options.add("height", height, "height of the result; 0: by size", {.least = 0, .most = 65536});
  options.add("width", width, "width of the result; 0: by size", {.least = 0, .most = 65536});
}

void TargetSize::expect_one(const std::string& step) const {
  const bool by_size = size > 0 && height == 0 && width == 0;
  const bool by_sides = size == 0 && height > 0 && width > 0;
  if (by_size || by_sides) return;
  throw ValueError("step " + step + ": expected either size, or height and width");
}

ImageSize TargetSize::of(const ImageSize& image) const {
  if (size == 0) return {height, width};
  const auto longer = [&](std::int64_t side, std::int64_t shorter) {
    return sides == Sides::cut
               ? size * side / shorter
               : std::int64_t(std::nearbyint(double(size) * double(side) / double(shorter)));
  };
  if (image.height < image.width) return {size, longer(image.width, image.height)};
  return {longer(image.height, image.width), size};
}

TensorDesc TargetSize::describe(const TensorDesc& in) const {
  expect_bytes(in);
  const ImageSize image{height_of(in), width_of(in)};
  const bool open = image.height == kUnknownDim || image.width == kUnknownDim;
  if (size > 0 && open) return resized(in, kUnknownDim, kUnknownDim);
  const ImageSize target = of(image);
  return resized(in, target.height, target.width);
}

}  // namespace d5::detail
