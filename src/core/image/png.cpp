// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "core/image/format.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Maximum expansion factor of deflate. Source: zlib, "Maximum Expansion Factor".
constexpr std::int64_t kMostExpansion = 1032;

class PngReader final : public ImageReader {
 public:
  PngReader() = default;
  ~PngReader() override { close(); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  ImageSize open(ImageBytes bytes) override {
    close();
    left_ = bytes;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, keep_reason, ignore_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) throw MemoryError("image: libpng cannot be started");
    png_set_read_fn(png_, this, take);
    guarded([this] { png_read_info(png_, info_); });
    const ImageSize size{png_get_image_height(png_, info_), png_get_image_width(png_, info_)};
    const auto packed_row = std::int64_t(png_get_rowbytes(png_, info_));
    if (size.height >
        kMostExpansion * std::int64_t(bytes.size()) / std::max<std::int64_t>(1, packed_row)) {
      throw_damaged("PNG", fmt::format("{} bytes cannot hold {} x {} pixels", bytes.size(),
                                       size.height, size.width));
    }
    guarded([this] {
      png_set_expand(png_);
      png_set_scale_16(png_);
      png_set_gray_to_rgb(png_);
      png_set_strip_alpha(png_);
      passes_ = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    return size;
  }

  void read(const ImagePart& part, std::uint8_t* rgb) override {
    const std::size_t width = png_get_image_width(png_, info_), row = 3 * width;
    const std::int64_t height = png_get_image_height(png_, info_);
    if (png_get_rowbytes(png_, info_) != row) throw_damaged("PNG", "its rows have another length");
    if (passes_ == 1) {
      read_rows(part, row, height, rgb);
    } else {  // the whole image, pass by pass
      rows_.resize(std::size_t(height) * row);
      std::vector<png_bytep> pointers(std::size_t(height), nullptr);
      for (std::size_t y = 0; y < pointers.size(); ++y) pointers[y] = rows_.data() + y * row;
      guarded([&] {
        png_read_image(png_, pointers.data());
        png_read_end(png_, nullptr);
      });
      for (std::int64_t y = 0; y < part.height; ++y, rgb += 3 * part.width) {
        std::copy_n(pointers[std::size_t(part.top + y)] + 3 * part.left, 3 * part.width, rgb);
      }
    }
    close();
  }

 private:
  /// Rows after the part are not unpacked.
  void read_rows(const ImagePart& part, std::size_t row, std::int64_t height, std::uint8_t* rgb) {
    rows_.resize(row);
    const bool direct = std::int64_t(row) == 3 * part.width;
    guarded([&] {
      for (std::int64_t y = 0; y < part.top; ++y) png_read_row(png_, rows_.data(), nullptr);
      for (std::int64_t y = 0; y < part.height; ++y) {
        std::uint8_t* const to = rgb + 3 * part.width * y;
        png_read_row(png_, direct ? to : rows_.data(), nullptr);
        if (!direct) std::memcpy(to, rows_.data() + 3 * part.left, std::size_t(3 * part.width));
      }
      if (direct && part.height == height) png_read_end(png_, nullptr);
    });
  }
  void close() { png_destroy_read_struct(&png_, &info_, nullptr); }

  /// libpng leaves `f` by longjmp on an error: `f` must not own anything with a destructor.
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
  static void take(png_structp png, png_bytep to, std::size_t count) {
    ImageBytes& left = static_cast<PngReader*>(png_get_io_ptr(png))->left_;
    if (count > left.size()) png_error(png, "it ends early");
    std::memcpy(to, left.data(), count);
    left = left.subspan(count);
  }

  ImageBytes left_;
  std::array<char, 128> reason_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  std::vector<std::uint8_t> rows_;
};

}  // namespace

std::unique_ptr<ImageReader> png_reader() { return std::make_unique<PngReader>(); }

}  // namespace d5::detail
