// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "d5/level2_training/data/sample_step.hpp"

namespace d5::detail {

/// Memory layout of an image: `planes` of rows of pixels of `pixel` bytes. uint8 {height, width,
/// channels} is one plane whose pixels hold all channels; float32 {channels, height, width} is one
/// plane per channel.
struct ImageLayout {
  std::int64_t planes = 1, height = 0, width = 0, pixel = 0;
  [[nodiscard]] std::int64_t row() const { return width * pixel; }
  [[nodiscard]] std::int64_t plane() const { return height * row(); }
};

[[nodiscard]] inline bool channels_last(DType dtype) { return dtype == DType::uint8; }
[[nodiscard]] ImageLayout layout_of(const SampleView& image);
/// Dimensions of an image of that type and number of channels: {height, width, channels} or
/// {channels, height, width}.
[[nodiscard]] std::array<std::int64_t, 3> image_dims(DType dtype, std::int64_t channels,
                                                     std::int64_t height, std::int64_t width);
[[nodiscard]] std::int64_t channels_of(const SampleView& image);

/// Throws: TypeError, ShapeError if `in` is not an image.
void expect_image(const TensorDesc& in);
/// Throws: TypeError if `in` is not an image of bytes.
void expect_bytes(const TensorDesc& in);
/// `in` with another height and width; kUnknownDim: open.
[[nodiscard]] TensorDesc resized(const TensorDesc& in, std::int64_t height, std::int64_t width);
[[nodiscard]] std::int64_t height_of(const TensorDesc& image);
[[nodiscard]] std::int64_t width_of(const TensorDesc& image);
[[nodiscard]] std::int64_t channels_of(const TensorDesc& image);

/// A fill value in every element type, as bytes; rounded for bytes.
struct Fill {
  Fill(DType dtype, double value);
  std::array<std::uint8_t, 4> bytes{};
  std::int64_t size = 0;
};
/// Fills `count` bytes with `fill`, repeated.
void fill_bytes(std::uint8_t* to, std::int64_t count, const Fill& fill);
/// A rectangle of all planes.
void fill_rectangle(const SampleView& image, std::int64_t top, std::int64_t left,
                    std::int64_t height, std::int64_t width, double value);

}  // namespace d5::detail
