// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/core/image.hpp"
#include "level2_training/data/image/kernel_resampler.hpp"
#include "level2_training/data/image/target_size.hpp"

namespace d5 {
namespace {

using detail::KernelRule;
using detail::ResampleKernel;

struct ResizeAsOptions {
  enum class Library { pillow, opencv, tensorflow, tensorflow_antialias, tensorflow_1 };
  Library library = Library::pillow;
  ResampleKernel kernel = ResampleKernel::bilinear;
  detail::TargetSize size = {};

  void declare(OptionList& options) {
    options.add("library", library,
                "whose pixels: half-pixel centres, antialiased by pillow and tensorflow_antialias; "
                "tensorflow_1 has its corner in the first pixel's",
                {"pillow", "opencv", "tensorflow", "tensorflow_antialias", "tensorflow_1"});
    options.add("kernel", kernel, "what a pixel is made of; area is OpenCV's",
                {"nearest", "bilinear", "bicubic", "area"});
    size.declare(options);
    options.add("sides", size.sides, "how the longer side becomes whole", {"cut", "nearest"});
  }
};

KernelRule rule_of(const ResizeAsOptions& options) {
  using Library = ResizeAsOptions::Library;
  const Library library = options.library;
  return {.kernel = options.kernel,
          .antialias = library == Library::pillow || library == Library::tensorflow_antialias,
          .corner = library == Library::tensorflow_1,
          // Of Keys' cubic: OpenCV's own, and that of the others.
          .cubic = library == Library::opencv ? -0.75 : -0.5,
          .nearest_corner = library == Library::opencv || library == Library::tensorflow_1,
          .rounds_between = library == Library::pillow,
          .clamps = library == Library::opencv};
}

/// Another size, as a library makes it: within one of 255 of its pixels.
class ResizeAsStep final : public SampleStep {
 public:
  using Options = ResizeAsOptions;
  explicit ResizeAsStep(const ResizeAsOptions& options)
      : options_(options), rule_(rule_of(options)) {
    options.size.expect_one("resize_as");
    if (options.kernel == ResampleKernel::area && options.library != Options::Library::opencv) {
      throw ValueError("step resize_as: the kernel area is OpenCV's; say library=opencv");
    }
  }

  TensorDesc describe(const TensorDesc& in) const override { return options_.size.describe(in); }
  void run(StepRun& run) const override {
    const SampleView& image = run.input();
    const ImageSize size = options_.size.of({image.sizes[0], image.sizes[1]});
    const bool grows = size.height > image.sizes[0] || size.width > image.sizes[1];
    if (grows && options_.kernel == ResampleKernel::area) {
      throw ShapeError(
          fmt::format("an image of {} x {} cannot grow to {} x {} by area; use bilinear",
                      image.sizes[0], image.sizes[1], size.height, size.width));
    }
    const SampleView out = run.output(DType::uint8, {size.height, size.width, image.sizes[2]});
    detail::resample(image, rule_, out);
  }

 private:
  ResizeAsOptions options_;
  KernelRule rule_;
};

}  // namespace

namespace sample_step {

void register_resize_as(Registry<SampleStepEntry>& registry) {
  registry.add("resize_as", SampleStepEntry::of<ResizeAsStep>(
                                "another size, as Pillow, OpenCV or TensorFlow makes it"));
}

}  // namespace sample_step
}  // namespace d5
