// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "core/image/format.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"

namespace d5::detail {
namespace {

/// Source of bytes for libtiff, and its messages.
class TiffSource {
 public:
  explicit TiffSource(ImageBytes bytes) : bytes_(bytes) {}

  struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };
  /// Null if the header is invalid.
  std::unique_ptr<TIFF, Close> open() {
    const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(
        TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
    if (!options) throw MemoryError("image: libtiff cannot be started");
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), tmsize_t(kMostImagePixels) * 4);
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_reason, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_warning, nullptr);
    constexpr const char* kReadWithoutMap = "rm";
    return std::unique_ptr<TIFF, Close>(TIFFClientOpenExt("image", kReadWithoutMap, this, read,
                                                          refuse_write, seek, close, size, nullptr,
                                                          nullptr, options.get()));
  }
  [[nodiscard]] const char* reason() const { return reason_.data(); }

 private:
  static TiffSource& of(void* source) { return *static_cast<TiffSource*>(source); }
  static int keep_reason(TIFF*, void* source, const char*, const char* format, va_list values) {
    auto& reason = of(source).reason_;
    std::vsnprintf(reason.data(), reason.size(), format, values);
    return 1;
  }
  static int ignore_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

  static tmsize_t read(thandle_t source, void* to, tmsize_t count) {
    TiffSource& s = of(source);
    const ImageBytes left = s.bytes_.subspan(std::min<std::size_t>(s.place_, s.bytes_.size()));
    const std::size_t n = std::min(std::size_t(count), left.size());
    std::copy_n(left.data(), n, static_cast<std::uint8_t*>(to));
    s.place_ += n;
    return tmsize_t(n);
  }
  static tmsize_t refuse_write(thandle_t, void*, tmsize_t) { return -1; }
  static toff_t seek(thandle_t source, toff_t offset, int whence) {
    TiffSource& s = of(source);
    const toff_t from = whence == SEEK_CUR ? s.place_ : whence == SEEK_END ? s.bytes_.size() : 0;
    return s.place_ = from + offset;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t source) { return of(source).bytes_.size(); }

  ImageBytes bytes_;
  toff_t place_ = 0;
  std::array<char, 256> reason_{};
};

/// libtiff would multiply the colors by an unassociated alpha channel.
void leave_alpha_out(TIFF* tiff) {
  std::uint16_t count = 0;
  const std::uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0) return;
  std::vector<std::uint16_t> multiplied(kinds, kinds + count);
  std::ranges::replace(multiplied, EXTRASAMPLE_UNASSALPHA, EXTRASAMPLE_ASSOCALPHA);
  TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, count, multiplied.data());
}

}  // namespace

Tensor decode_tiff(ImageBytes bytes) {
  TiffSource source(bytes);
  const auto tiff = source.open();
  std::uint32_t width = 0, height = 0;
  if (!tiff || TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) == 0 ||
      TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) == 0) {
    throw_damaged("TIFF", source.reason());
  }
  Tensor image = rgb_image(height, width);
  leave_alpha_out(tiff.get());
  std::array<char, 1024> kind{};
  if (TIFFRGBAImageOK(tiff.get(), kind.data()) == 0) {
    throw Unsupported(fmt::format("image: this kind of TIFF image is not decoded: {}; convert it",
                                  printable(kind.data())));
  }
  Tensor packed = Tensor::empty(DType::uint32, {height, width});
  constexpr int kStopOnError = 1;
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, packed.data<std::uint32_t>(),
                                ORIENTATION_TOPLEFT, kStopOnError) == 0) {
    throw_damaged("TIFF", source.reason());
  }
  std::uint8_t* rgb = image.data<std::uint8_t>();
  for (const std::uint32_t pixel : packed.span<std::uint32_t>()) {
    *rgb++ = std::uint8_t(TIFFGetR(pixel));
    *rgb++ = std::uint8_t(TIFFGetG(pixel));
    *rgb++ = std::uint8_t(TIFFGetB(pixel));
  }
  return image;
}

}  // namespace d5::detail
