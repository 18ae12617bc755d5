// SPDX-License-Identifier: Apache-2.0
// ImageDecoder: the pixels of an encoded image.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/word.hpp"

namespace d5::ops {
namespace {

using ImageDecoderView = onnx::nodes::ImageDecoder;

std::int64_t channels(PixelFormat format) { return format == PixelFormat::grayscale ? 1 : 3; }

class ImageDecoderKernel final : public Kernel {
 public:
  explicit ImageDecoderKernel(PixelFormat format) : format_(format) {}

  void forward(OpContext& context) override {
    const auto bytes = context.input(ImageDecoderView::In::encoded_stream).span<std::uint8_t>();
    try {
      context.set_output(0, decode_image(std::as_bytes(bytes), format_));
    } catch (const FormatError&) {  // ONNX specifies an empty image
      context.allocate(0, {DType::uint8, {0, 0, channels(format_)}});
    }
  }

 private:
  PixelFormat format_;
};

/// Shapes: the input is a vector of bytes, the output height x width x channels; 0 x 0 x channels
/// for a damaged image or unknown format.
class ImageDecoder final : public MovingOperator {
 public:
  explicit ImageDecoder(const ImageDecoderView& view)
      : format_(detail::word_of<PixelFormat>(view.node(), "pixel_format", view.pixel_format(),
                                             {{"RGB", PixelFormat::rgb},
                                              {"BGR", PixelFormat::bgr},
                                              {"Grayscale", PixelFormat::grayscale}})) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& stream = context.shape(ImageDecoderView::In::encoded_stream);
    if (stream.rank() != 1) {
      throw ShapeError(fmt::format("{}: the encoded stream is {}, expected a vector of bytes",
                                   context.who(), to_string(stream)));
    }
    return {TensorDesc{DType::uint8, {kUnknownDim, kUnknownDim, channels(format_)}}};
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<ImageDecoderKernel>(format_);
  }

 private:
  PixelFormat format_;
};

}  // namespace

void register_image_decoder(OperatorRegistry& registry) {
  registry.add<ImageDecoder, ImageDecoderView>();
}

}  // namespace d5::ops
