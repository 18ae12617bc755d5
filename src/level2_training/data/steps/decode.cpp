// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"
#include "level2_training/data/image/exif_orientation.hpp"
#include "level2_training/data/image/framing_step.hpp"

namespace d5 {
namespace {

using detail::Frame;
using detail::FramingStep;

struct DecodeOptions {
  bool region = true;
  bool scaled = false;
  std::int64_t most_pixels = kMostImagePixels;
  enum class Orientation { keep, upright } orientation = Orientation::keep;

  void declare(OptionList& options) {
    options.add(
        "region", region,
        "decode only the region that a directly following crop needs: the same pixels, faster");
    options.add("scaled", scaled,
                "decode a JPEG at the smallest of 1/8, 1/4 and 1/2 of its size that a directly "
                "following resize does not enlarge: different pixels, faster");
    options.add("orientation", orientation,
                "EXIF orientation of a JPEG: keep the stored orientation, or rotate it upright",
                {"keep", "upright"});
    options.add("most_pixels", most_pixels,
                "limit on the pixels of an image; larger ones are refused", {.least = 1});
  }
};

std::span<const std::byte> encoded(const SampleView& sample) {
  if (sample.dtype == DType::string) return std::as_bytes(std::span(*sample.as<std::string>()));
  return std::as_bytes(sample.span<std::uint8_t>());
}

void expect_encoded(const TensorDesc& in) {
  const bool text = in.dtype == DType::string && in.shape.rank() == 0;
  const bool bytes = in.dtype == DType::uint8 && in.shape.rank() == 1;
  if (text || bytes) return;
  throw TypeError("it gets " + to_string(in) +
                  ", expected an encoded image: a string, or a vector of bytes");
}

struct DecodeMemory : StepRun::Memory {
  ImageDecoder decoder;
  std::vector<std::uint8_t> lying;  ///< before it is turned
};

/// Decodes an encoded image to RGB.
class DecodeStep final : public SampleStep {
 public:
  using Options = DecodeOptions;
  explicit DecodeStep(const DecodeOptions& options) : options_(options) {}

  TensorDesc describe(const TensorDesc& in) const override {
    expect_encoded(in);
    return {DType::uint8, {kUnknownDim, kUnknownDim, 3}};
  }
  std::unique_ptr<StepRun::Memory> memory() const override {
    return std::make_unique<DecodeMemory>();
  }
  void run(StepRun& run) const override {
    auto& decoder = run.memory<DecodeMemory>().decoder;
    const ImageSize size = decoder.open(encoded(run.input()), options_.most_pixels);
    const int orientation = options_.orientation == Options::Orientation::upright
                                ? detail::exif_orientation(encoded(run.input()))
                                : 1;
    const ImageSize upright = detail::upright_size(size, orientation);
    const SampleView out = run.output(DType::uint8, {upright.height, upright.width, 3});
    const ImagePart all{.height = size.height, .width = size.width};
    if (orientation == 1) return decoder.read(all, out.span<std::uint8_t>());
    auto& lying = run.memory<DecodeMemory>().lying;
    lying.resize(out.bytes());
    decoder.read(all, lying);
    detail::write_upright(lying.data(), size, orientation, out.as<std::uint8_t>());
  }
  std::shared_ptr<const SampleStep> joined_with(
      const std::shared_ptr<const SampleStep>& next) const override;

 private:
  DecodeOptions options_;
};

struct FramedMemory : StepRun::Memory {
  ImageDecoder decoder;
  detail::Resampler resampler;
};

/// Decodes the part of the image inside a frame, and resizes it.
class FramedDecodeStep final : public SampleStep {
 public:
  FramedDecodeStep(const DecodeOptions& options, std::shared_ptr<const FramingStep> framing)
      : options_(options), framing_(std::move(framing)) {}

  TensorDesc describe(const TensorDesc& in) const override {
    expect_encoded(in);
    return framing_->describe({DType::uint8, {kUnknownDim, kUnknownDim, 3}});
  }
  std::unique_ptr<StepRun::Memory> memory() const override {
    return std::make_unique<FramedMemory>();
  }

  void run(StepRun& run) const override {
    auto& memory = run.memory<FramedMemory>();
    const ImageSize image = memory.decoder.open(encoded(run.input()), options_.most_pixels);
    const Frame frame = framing_->frame(image, run.random());
    const SampleView out = run.output(DType::uint8, {frame.size.height, frame.size.width, 3});

    // The frame in pixels of the decoded image, and the smallest rectangle of whole pixels around
    // it.
    const int eighths = options_.scaled && memory.decoder.scales() ? eighths_for(frame) : 8;
    const double scale = eighths / 8.0;
    const ImageSize all = scaled(image, eighths);
    ImagePart part{.eighths = eighths};
    if (options_.region) {
      part.top = clamped_floor(double(frame.top) * scale, all.height);
      part.left = clamped_floor(double(frame.left) * scale, all.width);
    }
    part.height = options_.region ? clamped_ceil(double(frame.top + frame.height) * scale,
                                                 part.top + 1, all.height) -
                                        part.top
                                  : all.height;
    part.width = options_.region ? clamped_ceil(double(frame.left + frame.width) * scale,
                                                part.left + 1, all.width) -
                                       part.left
                                 : all.width;
    const PixelRows rows = memory.decoder.rows(part);

    if (!frame.resizes()) {
      const SampleView pixels{.dtype = DType::uint8,
                              .rank = 3,
                              .sizes = {part.height, part.width, 3},
                              .data = rows.data};
      const Frame rest{.top = frame.top - part.top,
                       .left = frame.left - part.left,
                       .height = frame.height,
                       .width = frame.width,
                       .size = frame.size};
      return detail::copy_frame(pixels, rows.stride, rest, framing_->fill(), out);
    }
    // Without scaling the box is the region: pixels around it are not used.
    const double top = double(frame.top) * scale, left = double(frame.left) * scale;
    detail::BytePixels pixels{.data = rows.data,
                              .height = part.height,
                              .width = part.width,
                              .channels = 3,
                              .stride = rows.stride};
    detail::Box box{.top = top - double(part.top),
                    .left = left - double(part.left),
                    .height = std::min(double(frame.height) * scale, double(all.height) - top),
                    .width = std::min(double(frame.width) * scale, double(all.width) - left)};
    if (!options_.region && eighths == 8) {
      pixels.data += frame.top * pixels.stride + 3 * frame.left;
      pixels.height = frame.height;
      pixels.width = frame.width;
      box = {.height = double(frame.height), .width = double(frame.width)};
    }
    memory.resampler.run(pixels, box, out.as<std::uint8_t>(), frame.size);
  }

 private:
  [[nodiscard]] static int eighths_for(const Frame& frame) {
    if (!frame.resizes()) return 8;
    // Other scales are as slow as no scaling: libjpeg-turbo has no vector instructions for them.
    for (const int eighths : {1, 2, 4}) {
      const bool enough = frame.height * eighths >= 8 * frame.size.height &&
                          frame.width * eighths >= 8 * frame.size.width;
      if (enough) return eighths;
    }
    return 8;
  }
  [[nodiscard]] static std::int64_t clamped_floor(double value, std::int64_t size) {
    return std::clamp(std::int64_t(std::floor(value)), std::int64_t{0}, size - 1);
  }
  [[nodiscard]] static std::int64_t clamped_ceil(double value, std::int64_t least,
                                                 std::int64_t most) {
    return std::clamp(std::int64_t(std::ceil(value)), least, most);
  }

  DecodeOptions options_;
  std::shared_ptr<const FramingStep> framing_;
};

std::shared_ptr<const SampleStep> DecodeStep::joined_with(
    const std::shared_ptr<const SampleStep>& next) const {
  auto framing = std::dynamic_pointer_cast<const FramingStep>(next);
  const bool turns = options_.orientation == Options::Orientation::upright;
  if (!framing || turns || !(options_.region || options_.scaled)) return nullptr;
  return std::make_shared<FramedDecodeStep>(options_, std::move(framing));
}

}  // namespace

namespace sample_step {

void register_decode(Registry<SampleStepEntry>& registry) {
  registry.add("decode", SampleStepEntry::of<DecodeStep>(
                             "decoding of an image file to uint8 height x width x 3"));
}

}  // namespace sample_step
}  // namespace d5
