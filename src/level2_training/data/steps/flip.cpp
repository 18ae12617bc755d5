// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "level2_training/data/image/layout.hpp"

namespace d5 {
namespace {

enum class Axis { horizontal, vertical };

struct FlipOptions {
  double probability = 0.5;
  Axis axis = Axis::horizontal;

  void declare(OptionList& options) {
    options.add("probability", probability, "probability of a flip", {.least = 0, .most = 1});
    options.add("axis", axis, "horizontal (left to right), or vertical",
                {"horizontal", "vertical"});
  }
};

template <std::size_t bytes>
void mirror_row(const std::uint8_t* from, std::int64_t width, std::uint8_t* to) {
  for (std::int64_t x = 0; x < width; ++x) {
    std::memcpy(to + std::size_t(x) * bytes, from + std::size_t(width - 1 - x) * bytes, bytes);
  }
}

void mirror_row(const std::uint8_t* from, std::int64_t width, std::int64_t pixel,
                std::uint8_t* to) {
  if (pixel == 1) return mirror_row<1>(from, width, to);
  if (pixel == 3) return mirror_row<3>(from, width, to);
  if (pixel == 4) return mirror_row<4>(from, width, to);
  for (std::int64_t x = 0; x < width; ++x) {
    std::copy_n(from + (width - 1 - x) * pixel, pixel, to + x * pixel);
  }
}

/// Mirrors an image at random.
class FlipStep final : public SampleStep {
 public:
  using Options = FlipOptions;
  explicit FlipStep(const FlipOptions& options) : options_(options) {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    return in;
  }
  void run(StepRun& run) const override {
    if (run.random().uniform_double() >= options_.probability) return run.keep();
    const SampleView& image = run.input();
    const SampleView out = run.output(image.dtype, image.dims());
    const detail::ImageLayout at = detail::layout_of(image);
    const auto* from = static_cast<const std::uint8_t*>(image.data);
    auto* to = static_cast<std::uint8_t*>(out.data);
    for (std::int64_t plane = 0; plane < at.planes; ++plane) {
      for (std::int64_t y = 0; y < at.height; ++y, to += at.row()) {
        const std::uint8_t* rows = from + plane * at.plane();
        if (options_.axis == Axis::horizontal) {
          mirror_row(rows + y * at.row(), at.width, at.pixel, to);
        } else {
          std::copy_n(rows + (at.height - 1 - y) * at.row(), at.row(), to);
        }
      }
    }
  }

 private:
  FlipOptions options_;
};

}  // namespace

namespace sample_step {

void register_flip(Registry<SampleStepEntry>& registry) {
  registry.add("flip", SampleStepEntry::of<FlipStep>("random flip"));
}

}  // namespace sample_step
}  // namespace d5
