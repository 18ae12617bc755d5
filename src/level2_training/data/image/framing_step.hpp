// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/image/image.hpp"
#include "level2_training/data/image/layout.hpp"
#include "level2_training/data/image/resampler.hpp"

namespace d5::detail {

/// A rectangle of an image, which may exceed its borders, and its target size.
struct Frame {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
  ImageSize size = {};
  [[nodiscard]] bool resizes() const { return size.height != height || size.width != width; }
};

/// Per-thread memory of a framing step: a resampler.
struct FramingMemory : StepRun::Memory {
  Resampler resampler;
};

/// A step that returns one rectangle of an image, resized or not. Outside the image it is filled
/// with `fill()`.
class FramingStep : public SampleStep {
 public:
  [[nodiscard]] virtual Frame frame(const ImageSize& image, RandomStream& random) const = 0;
  [[nodiscard]] virtual double fill() const { return 0; }
  [[nodiscard]] std::unique_ptr<StepRun::Memory> memory() const override {
    return std::make_unique<FramingMemory>();
  }
  void run(StepRun& run) const override;
};

/// Copies `frame` of `image`, with rows `stride` bytes apart, without resizing or conversion.
void copy_frame(const SampleView& image, std::int64_t stride, const Frame& frame, double fill,
                const SampleView& out);

}  // namespace d5::detail
