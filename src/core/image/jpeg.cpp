// SPDX-License-Identifier: Apache-2.0
#include <turbojpeg.h>

#include <memory>
#include <string_view>

#include "core/image/format.hpp"
#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

class JpegDecoder {
 public:
  explicit JpegDecoder(ImageBytes bytes) : bytes_(bytes) {
    if (!handle_) throw MemoryError("image: TurboJPEG cannot be started");
    int subsampling = 0;
    check(tjDecompressHeader3(handle_.get(), bytes_.data(), bytes_.size(), &width_, &height_,
                              &subsampling, &colors_));
  }

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] bool is_cmyk() const { return colors_ == TJCS_CMYK || colors_ == TJCS_YCCK; }

  void decode(TJPF pixels, std::uint8_t* to) const {
    check(tjDecompress2(handle_.get(), bytes_.data(), bytes_.size(), to, width_, 0, height_, pixels,
                        TJFLAG_LIMITSCANS));
  }

 private:
  void check(int status) const {
    if (status == 0) return;
    const std::string_view reason = tjGetErrorStr2(handle_.get());
    // Cameras write bytes that no decoder needs; a warning that pixels are missing is no such.
    const bool harmless = tjGetErrorCode(handle_.get()) == TJERR_WARNING &&
                          reason.find("remature end") == std::string_view::npos;
    if (!harmless) throw_damaged("JPEG", reason);
  }

  struct Destroy {
    void operator()(void* handle) const { tjDestroy(handle); }
  };
  ImageBytes bytes_;
  std::unique_ptr<void, Destroy> handle_{tjInitDecompress()};
  int width_ = 0, height_ = 0, colors_ = 0;
};

}  // namespace

Tensor decode_jpeg(ImageBytes bytes) {
  const JpegDecoder decoder(bytes);
  Tensor image = rgb_image(decoder.height(), decoder.width());
  std::uint8_t* rgb = image.data<std::uint8_t>();
  if (!decoder.is_cmyk()) {
    decoder.decode(TJPF_RGB, rgb);
    return image;
  }
  // Four inks, stored as what they leave of the light.
  Tensor inks = Tensor::empty(DType::uint8, {image.shape()[0], image.shape()[1], 4});
  const std::uint8_t* from = inks.data<std::uint8_t>();
  decoder.decode(TJPF_CMYK, inks.data<std::uint8_t>());
  for (std::int64_t i = 0; i < inks.elements(); i += 4, from += 4) {
    for (int c = 0; c < 3; ++c) *rgb++ = to_8_bits(std::uint64_t(from[c]) * from[3], 255 * 255);
  }
  return image;
}

}  // namespace d5::detail
