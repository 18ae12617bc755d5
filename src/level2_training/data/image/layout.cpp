// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

ImageLayout layout_of(const SampleView& image) {
  if (channels_last(image.dtype)) {
    return {.height = image.sizes[0], .width = image.sizes[1], .pixel = image.sizes[2]};
  }
  return {.planes = image.sizes[0],
          .height = image.sizes[1],
          .width = image.sizes[2],
          .pixel = std::int64_t(size_of(image.dtype))};
}

std::array<std::int64_t, 3> image_dims(DType dtype, std::int64_t channels, std::int64_t height,
                                       std::int64_t width) {
  if (channels_last(dtype)) return {height, width, channels};
  return {channels, height, width};
}

std::int64_t channels_of(const SampleView& image) {
  return image.sizes[channels_last(image.dtype) ? 2 : 0];
}

void expect_image(const TensorDesc& in) {
  if (in.dtype != DType::uint8 && in.dtype != DType::float32) {
    throw TypeError(
        fmt::format("it gets {}, expected an image: uint8 height x width x channels, or float32 "
                    "channels x height x width{}",
                    to_string(in), in.dtype == DType::string ? "; decode it first" : ""));
  }
  if (in.shape.rank() != 3) {
    throw ShapeError(fmt::format(
        "it gets {}, expected the three dimensions of an image; decode what is encoded first",
        to_string(in)));
  }
}

void expect_bytes(const TensorDesc& in) {
  expect_image(in);
  if (in.dtype == DType::uint8) return;
  throw TypeError(fmt::format(
      "it gets {}, expected uint8 height x width x channels; put it before to_tensor and normalise",
      to_string(in)));
}

TensorDesc resized(const TensorDesc& in, std::int64_t height, std::int64_t width) {
  const auto dims = image_dims(in.dtype, channels_of(in), height, width);
  return {in.dtype, Shape(std::span<const std::int64_t>(dims))};
}

std::int64_t height_of(const TensorDesc& image) {
  return image.shape[channels_last(image.dtype) ? 0 : 1];
}
std::int64_t width_of(const TensorDesc& image) {
  return image.shape[channels_last(image.dtype) ? 1 : 2];
}
std::int64_t channels_of(const TensorDesc& image) {
  return image.shape[channels_last(image.dtype) ? 2 : 0];
}

Fill::Fill(DType dtype, double value) {
  if (dtype == DType::uint8) {
    bytes[0] = std::uint8_t(std::clamp(std::lround(value), 0L, 255L));
    size = 1;
    return;
  }
  const auto number = float(value);
  std::memcpy(bytes.data(), &number, sizeof number);
  size = sizeof number;
}

void fill_bytes(std::uint8_t* to, std::int64_t count, const Fill& fill) {
  if (fill.size == 1) {
    std::memset(to, fill.bytes[0], std::size_t(count));
    return;
  }
  for (std::int64_t i = 0; i < count; i += fill.size) {
    std::memcpy(to + i, fill.bytes.data(), std::size_t(fill.size));
  }
}

void fill_rectangle(const SampleView& image, std::int64_t top, std::int64_t left,
                    std::int64_t height, std::int64_t width, double value) {
  const ImageLayout at = layout_of(image);
  const Fill fill(image.dtype, value);
  auto* bytes = static_cast<std::uint8_t*>(image.data);
  for (std::int64_t plane = 0; plane < at.planes; ++plane) {
    for (std::int64_t y = top; y < top + height; ++y) {
      fill_bytes(bytes + plane * at.plane() + y * at.row() + left * at.pixel, width * at.pixel,
                 fill);
    }
  }
}

}  // namespace d5::detail
