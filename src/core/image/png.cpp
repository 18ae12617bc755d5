// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <array>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "core/image/format.hpp"
#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

class PngReader {
 public:
  explicit PngReader(ImageBytes bytes)
      : left_(bytes),
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, keep_reason, ignore_warning)),
        info_(png_ ? png_create_info_struct(png_) : nullptr) {
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw MemoryError("image: libpng cannot be started");
    }
    png_set_read_fn(png_, this, read);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Tensor read_header() {
    guarded([this] {
      png_read_info(png_, info_);
      png_set_expand(png_);
      png_set_scale_16(png_);
      png_set_gray_to_rgb(png_);
      png_set_strip_alpha(png_);
      png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    return rgb_image(png_get_image_height(png_, info_), png_get_image_width(png_, info_));
  }

  void read_pixels(Tensor& image) {
    const auto width = std::size_t(image.shape()[1]) * 3;
    std::vector<png_bytep> rows(std::size_t(image.shape()[0]));
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = image.data<std::uint8_t>() + y * width;
    guarded([this, &rows, width] {
      if (png_get_rowbytes(png_, info_) != width) png_error(png_, "its rows have another length");
      png_read_image(png_, rows.data());
      png_read_end(png_, nullptr);
    });
  }

 private:
  /// libpng leaves `f` by a jump where something is wrong: it holds nothing to be destroyed.
  template <class F>
  void guarded(const F& f) {
    if (setjmp(png_jmpbuf(png_)) != 0) throw_damaged("PNG", reason_.data());
    f();
  }
  [[noreturn]] static void keep_reason(png_structp png, png_const_charp reason) {
    auto& to = static_cast<PngReader*>(png_get_error_ptr(png))->reason_;
    std::strncpy(to.data(), reason, to.size() - 1);
    png_longjmp(png, 1);
  }
  static void ignore_warning(png_structp, png_const_charp) {}
  static void read(png_structp png, png_bytep to, std::size_t count) {
    ImageBytes& left = static_cast<PngReader*>(png_get_io_ptr(png))->left_;
    if (count > left.size()) png_error(png, "it ends early");
    std::memcpy(to, left.data(), count);
    left = left.subspan(count);
  }

  ImageBytes left_;
  std::array<char, 128> reason_{};
  png_structp png_;
  png_infop info_;
};

}  // namespace

Tensor decode_png(ImageBytes bytes) {
  PngReader reader(bytes);
  Tensor image = reader.read_header();
  reader.read_pixels(image);
  return image;
}

}  // namespace d5::detail
