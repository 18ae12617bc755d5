// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/framing_step.hpp"

#include <algorithm>

namespace d5::detail {

void copy_frame(const SampleView& image, std::int64_t stride, const Frame& frame, double fill,
                const SampleView& out) {
  const ImageLayout from = layout_of(image), to = layout_of(out);
  const Fill filling(image.dtype, fill);
  const std::int64_t left = std::clamp<std::int64_t>(-frame.left, 0, frame.width);
  const std::int64_t right = std::clamp(from.width - frame.left, left, frame.width);
  const auto* source = static_cast<const std::uint8_t*>(image.data);
  auto* target = static_cast<std::uint8_t*>(out.data);
  for (std::int64_t plane = 0; plane < from.planes; ++plane, source += from.height * stride) {
    for (std::int64_t y = frame.top; y < frame.top + frame.height; ++y, target += to.row()) {
      if (y < 0 || y >= from.height) {
        fill_bytes(target, to.row(), filling);
        continue;
      }
      const std::uint8_t* row = source + y * stride + frame.left * from.pixel;
      fill_bytes(target, left * from.pixel, filling);
      std::copy(row + left * from.pixel, row + right * from.pixel, target + left * from.pixel);
      fill_bytes(target + right * from.pixel, (frame.width - right) * from.pixel, filling);
    }
  }
}

void FramingStep::run(StepRun& run) const {
  const SampleView& image = run.input();
  const ImageLayout at = layout_of(image);
  const Frame part = frame({at.height, at.width}, run.random());
  const bool all = part.top == 0 && part.left == 0 && part.height == at.height &&
                   part.width == at.width && !part.resizes();
  if (all) return run.keep();
  const SampleView out = run.output(
      image.dtype, image_dims(image.dtype, channels_of(image), part.size.height, part.size.width));
  if (!part.resizes()) return copy_frame(image, at.row(), part, fill(), out);
  // Ignores pixels outside of the rectangle, as if it had been cut out first.
  const BytePixels pixels{
      .data = image.as<std::uint8_t>() + part.top * at.row() + part.left * at.pixel,
      .height = part.height,
      .width = part.width,
      .channels = at.pixel,
      .stride = at.row()};
  run.memory<FramingMemory>().resampler.run(
      pixels, {.height = double(part.height), .width = double(part.width)}, out.as<std::uint8_t>(),
      part.size);
}

}  // namespace d5::detail
