// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "level2_training/data/image/target_size.hpp"

namespace d5::detail {
namespace {

enum class ResampleKernel { nearest, bilinear, bicubic, area };

/// Resampling rule of a library.
struct KernelRule {
  ResampleKernel kernel = ResampleKernel::bilinear;
  bool antialias = false;  ///< widens the kernel when an image shrinks
  bool corner = false;     ///< pixel i lies at i times the scale; else centres do at the halves
  double cubic = -0.5;     ///< the slope of Keys' cubic
  bool nearest_corner = false;  ///< the nearest pixel is that of the corner, not of the centre
  bool rounds_between = false;  ///< rows are rounded to bytes before columns are resized
  bool clamps = false;  ///< pixels beyond the border are those at it; else the rest weighs more
};

/// Source of one pixel: pixels from `first` on, with weights whose sum is 1.
struct PixelMix {
  std::int64_t first = 0;
  std::vector<double> weights;
};

double kernel_at(double x, const KernelRule& rule) {
  x = std::abs(x);
  if (rule.kernel == ResampleKernel::bilinear) return std::max(0.0, 1 - x);
  const double a = rule.cubic;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return a * (((x - 5) * x + 8) * x - 4);
  return 0;
}

PixelMix nearest_mix(std::int64_t i, std::int64_t in, double scale, const KernelRule& rule) {
  const double place = rule.nearest_corner ? double(i) * scale : (double(i) + 0.5) * scale;
  return {std::min(std::int64_t(std::floor(place)), in - 1), {1}};
}

/// The share of each source pixel in the new pixel.
PixelMix area_mix(std::int64_t i, std::int64_t in, double scale) {
  const double begin = double(i) * scale, end = std::min(double(i + 1) * scale, double(in));
  PixelMix mix{.first = std::int64_t(std::floor(begin)), .weights = {}};
  for (std::int64_t k = mix.first; double(k) < end; ++k) {
    const double below = std::min(double(k + 1), end) - std::max(double(k), begin);
    if (below > 1e-6) mix.weights.push_back(below / (end - begin));
  }
  return mix;
}

PixelMix kernel_mix(std::int64_t i, std::int64_t in, double scale, const KernelRule& rule) {
  const double stretch = rule.antialias ? std::max(1.0, scale) : 1;
  const double reach = (rule.kernel == ResampleKernel::bicubic ? 2 : 1) * stretch;
  const double centre = rule.corner ? double(i) * scale : (double(i) + 0.5) * scale - 0.5;
  const auto first = std::int64_t(std::ceil(centre - reach));
  const auto last = std::int64_t(std::floor(centre + reach));
  const std::int64_t begin = std::clamp(first, std::int64_t{0}, in - 1);
  const std::int64_t end = std::clamp(last, std::int64_t{0}, in - 1);
  PixelMix mix{.first = begin, .weights = std::vector<double>(std::size_t(end - begin + 1))};
  double sum = 0;
  for (std::int64_t k = first; k <= last; ++k) {
    const bool inside = k >= 0 && k < in;
    if (!inside && !rule.clamps) continue;
    const double weight = kernel_at((double(k) - centre) / stretch, rule);
    mix.weights[std::size_t(std::clamp(k, begin, end) - begin)] += weight;
    sum += weight;
  }
  if (sum == 0) {  // beyond the last pixel: it
    mix.weights.back() = sum = 1;
  }
  for (double& weight : mix.weights) weight /= sum;
  return mix;
}

std::vector<PixelMix> mixes(std::int64_t in, std::int64_t out, const KernelRule& rule) {
  const double scale = double(in) / double(out);
  std::vector<PixelMix> all;
  for (std::int64_t i = 0; i < out; ++i) {
    const bool shrinks = in > out;
    all.push_back(rule.kernel == ResampleKernel::nearest ? nearest_mix(i, in, scale, rule)
                  : rule.kernel == ResampleKernel::area && shrinks
                      ? area_mix(i, in, scale)
                      : kernel_mix(i, in, scale, rule));
  }
  return all;
}

double as_byte(double value) { return std::clamp(std::floor(value + 0.5), 0.0, 255.0); }

/// Resamples `image`, uint8 {height, width, channels}, to the size of `out`: rows first, in
/// float64, rounded to bytes. Sources of the rules: Pillow's Resample.c, OpenCV's resize.cpp,
/// TensorFlow's scale_and_translate_op.cc and resize_bilinear_op.cc.
void resample(const SampleView& image, const KernelRule& rule, const SampleView& out) {
  const std::int64_t height = image.sizes[0], width = image.sizes[1], channels = image.sizes[2];
  const std::int64_t new_height = out.sizes[0], new_width = out.sizes[1];
  const auto columns = mixes(width, new_width, rule);
  const auto rows = mixes(height, new_height, rule);
  std::vector<double> narrowed(std::size_t(height * new_width * channels));
  const auto* from = image.as<std::uint8_t>();
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < new_width; ++x) {
      const PixelMix& mix = columns[std::size_t(x)];
      for (std::int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        const auto* pixel = from + (y * width + mix.first) * channels + c;
        for (const double weight : mix.weights) sum += weight * *pixel, pixel += channels;
        narrowed[std::size_t((y * new_width + x) * channels + c)] =
            rule.rounds_between ? as_byte(sum) : sum;
      }
    }
  }
  auto* to = out.as<std::uint8_t>();
  const std::int64_t line = new_width * channels;
  for (std::int64_t y = 0; y < new_height; ++y) {
    const PixelMix& mix = rows[std::size_t(y)];
    for (std::int64_t i = 0; i < line; ++i) {
      double sum = 0;
      const double* pixel = narrowed.data() + mix.first * line + i;
      for (const double weight : mix.weights) sum += weight * *pixel, pixel += line;
      *to++ = std::uint8_t(as_byte(sum));
    }
  }
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

using detail::KernelRule;
using detail::ResampleKernel;

struct ResizeAsOptions {
  enum class Library { pillow, opencv, tensorflow, tensorflow_antialias, tensorflow_1 };
  Library library = Library::pillow;
  ResampleKernel kernel = ResampleKernel::bilinear;
  detail::TargetSize size = {};
  enum class Ratio { given, squeezed, kept } ratio = Ratio::given;

  void declare(OptionList& options) {
    options.add(
        "library", library,
        "library whose resizing is reproduced: half-pixel centres, antialiased by pillow and "
        "tensorflow_antialias; tensorflow_1 aligns the origin with the corner of the first pixel",
        {"pillow", "opencv", "tensorflow", "tensorflow_antialias", "tensorflow_1"});
    options.add("kernel", kernel, "interpolation kernel; area only with opencv",
                {"nearest", "bilinear", "bicubic", "area"});
    size.declare(options);
    options.add("sides", size.sides, "rounding of the longer side", {"cut", "nearest"});
    options.add("ratio", ratio,
                "ratio of height and width: as given; or the image's at that height, as lines of "
                "text are resized: one that is wider than the width is squeezed to it, or kept",
                {"given", "squeezed", "kept"});
  }
};

KernelRule rule_of(const ResizeAsOptions& options) {
  using Library = ResizeAsOptions::Library;
  const Library library = options.library;
  return {.kernel = options.kernel,
          .antialias = library == Library::pillow || library == Library::tensorflow_antialias,
          .corner = library == Library::tensorflow_1,
          // Parameter of Keys's cubic: OpenCV's, and that of the others.
          .cubic = library == Library::opencv ? -0.75 : -0.5,
          .nearest_corner = library == Library::opencv || library == Library::tensorflow_1,
          .rounds_between = library == Library::pillow,
          .clamps = library == Library::opencv};
}

/// The size of a line of text: PaddleOCR's resize_norm_img.
ImageSize line_size(const ImageSize& image, const ResizeAsOptions& options) {
  const auto& [size, height, width, sides] = options.size;
  const double exact = double(height) * (double(image.width) / double(image.height));
  const auto least = std::max<std::int64_t>(1, std::int64_t(std::ceil(exact)));
  if (least <= width) return {height, least};
  if (options.ratio == ResizeAsOptions::Ratio::squeezed) return {height, width};
  constexpr std::int64_t kMostWidth = 65536;
  if (least > kMostWidth) {
    throw ShapeError(
        fmt::format("an image of {} x {} would be {} wide at a height of {}, expected "
                    "up to {}; use ratio=squeezed",
                    image.height, image.width, least, height, kMostWidth));
  }
  return {height, std::int64_t(exact)};
}

/// Resizes an image by another library's rule, within one of 255 of its pixels.
class ResizeAsStep final : public SampleStep {
 public:
  using Options = ResizeAsOptions;
  explicit ResizeAsStep(const ResizeAsOptions& options)
      : options_(options), rule_(rule_of(options)) {
    options.size.expect_one("resize_as");
    if (options.ratio != Options::Ratio::given && options.size.size > 0) {
      throw ValueError("step resize_as: the ratio needs height and width, not size");
    }
    if (options.kernel == ResampleKernel::area && options.library != Options::Library::opencv) {
      throw ValueError("step resize_as: the kernel area is OpenCV's; say library=opencv");
    }
  }

  TensorDesc describe(const TensorDesc& in) const override {
    TensorDesc out = options_.size.describe(in);
    if (options_.ratio != Options::Ratio::given) out.shape[1] = kUnknownDim;
    return out;
  }
  void run(StepRun& run) const override {
    const SampleView& image = run.input();
    const ImageSize given{image.sizes[0], image.sizes[1]};
    const ImageSize size = options_.ratio == Options::Ratio::given ? options_.size.of(given)
                                                                   : line_size(given, options_);
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
                                "resizing that reproduces Pillow, OpenCV or TensorFlow"));
}

}  // namespace sample_step
}  // namespace d5
