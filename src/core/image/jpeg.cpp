// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>
// In this order, because each needs the ones above.
#include <jpeglib.h>
//
#include <jerror.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/image/format.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Images with more scans are denial-of-service attacks.
constexpr int kMostScans = 500;

/// Warnings that mean missing pixels. Superfluous bytes, which cameras write, are ignored.
bool loses_pixels(int warning) {
  constexpr std::array kLosses{int(JWRN_JPEG_EOF), int(JWRN_HIT_MARKER), int(JWRN_HUFF_BAD_CODE),
                               int(JWRN_ARITH_BAD_CODE), int(JWRN_MUST_RESYNC)};
  return std::ranges::find(kLosses, warning) != kLosses.end();
}

class JpegReader final : public ImageReader {
 public:
  JpegReader() {
    jpeg_.err = jpeg_std_error(&errors_);
    errors_.error_exit = leave;
    errors_.emit_message = heed;
    jpeg_.client_data = this;
    guarded([this] { jpeg_create_decompress(&jpeg_); });
    progress_.progress_monitor = count_scans;
    jpeg_.progress = &progress_;
  }
  ~JpegReader() override { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  ImageSize open(ImageBytes bytes) override {
    jpeg_abort_decompress(&jpeg_);
    guarded([&] {
      jpeg_mem_src(&jpeg_, bytes.data(), static_cast<unsigned long>(bytes.size()));
      jpeg_read_header(&jpeg_, TRUE);
    });
    const ImageSize size{jpeg_.image_height, jpeg_.image_width};
    // Each 8 x 8 block has at least one Huffman code, of at least one bit.
    const std::int64_t blocks = ((size.height + 7) / 8) * ((size.width + 7) / 8);
    if (jpeg_.arith_code == FALSE && blocks / 8 > std::int64_t(bytes.size())) {
      throw_damaged("JPEG", fmt::format("{} bytes cannot hold {} x {} pixels", bytes.size(),
                                        size.height, size.width));
    }
    return size;
  }

  [[nodiscard]] bool scales() const override { return true; }

  void read(const ImagePart& part, std::uint8_t* rgb) override {
    const Columns columns = begin(part);
    const bool direct = !inks() && columns.count == part.width;
    if (direct) {
      read_rows(part.height, rgb, 3 * part.width);
      return end(part);
    }
    constexpr std::int64_t kRows = 8;  // at once
    const std::int64_t stride = (inks() ? 4 : 3) * columns.count;
    const std::int64_t skipped = part.left - columns.first;
    few_rows_.resize(std::size_t(kRows * stride));
    for (std::int64_t y = 0; y < part.height; y += kRows) {
      const std::int64_t count = std::min(kRows, part.height - y);
      read_rows(count, few_rows_.data(), stride);
      for (std::int64_t i = 0; i < count; ++i, rgb += 3 * part.width) {
        const std::uint8_t* from = few_rows_.data() + i * stride;
        if (inks()) {
          mix(from + 4 * skipped, part.width, rgb);
        } else {
          std::copy_n(from + 3 * skipped, 3 * part.width, rgb);
        }
      }
    }
    end(part);
  }

  /// The result includes columns around the part, which are decoded anyway.
  PixelRows rows(const ImagePart& part) override {
    if (inks()) return ImageReader::rows(part);
    const Columns columns = begin(part);
    const std::int64_t stride = 3 * columns.count;
    kept_.resize(std::size_t(part.height * stride));
    read_rows(part.height, kept_.data(), stride);
    end(part);
    return {kept_.data() + 3 * (part.left - columns.first), stride};
  }

 private:
  [[nodiscard]] bool inks() const {
    return jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
  }

  /// The decoded columns.
  struct Columns {
    std::int64_t first = 0, count = 0;
  };
  /// Starts decoding, and skips to the part's first row.
  Columns begin(const ImagePart& part) {
    jpeg_.out_color_space = inks() ? JCS_CMYK : JCS_RGB;
    jpeg_.scale_num = static_cast<unsigned>(part.eighths);
    jpeg_.scale_denom = 8;
    guarded([&] { jpeg_start_decompress(&jpeg_); });
    // Chroma is interpolated between neighbours, which are missing at the border of the decoded
    // area. So the area extends two pixels beyond the part.
    constexpr std::int64_t kBorder = 2;
    JDIMENSION first = 0, columns = jpeg_.output_width;
    if (part.width != columns) {
      first = JDIMENSION(std::max<std::int64_t>(0, part.left - kBorder));
      columns =
          JDIMENSION(std::min<std::int64_t>(columns, part.left + part.width + kBorder)) - first;
      guarded([&] { jpeg_crop_scanline(&jpeg_, &first, &columns); });
    }
    if (part.top > 0) guarded([&] { (void)jpeg_skip_scanlines(&jpeg_, JDIMENSION(part.top)); });
    return {first, columns};
  }
  void read_rows(std::int64_t count, std::uint8_t* to, std::int64_t stride) {
    constexpr std::int64_t kMost = 8;  // at once
    while (count > 0) {
      const std::int64_t some = std::min(count, kMost);
      std::array<JSAMPROW, kMost> pointers{};
      for (std::int64_t i = 0; i < some; ++i) pointers[std::size_t(i)] = to + i * stride;
      JDIMENSION got = 0;
      guarded([&] { got = jpeg_read_scanlines(&jpeg_, pointers.data(), JDIMENSION(some)); });
      count -= got;
      to += got * stride;
    }
  }
  void end(const ImagePart& part) {
    const bool all = part.height == jpeg_.output_height && part.width == jpeg_.output_width;
    if (all) {
      guarded([&] { jpeg_finish_decompress(&jpeg_); });
    } else {
      jpeg_abort_decompress(&jpeg_);
    }
  }

  /// CMYK, stored inverted.
  static void mix(const std::uint8_t* inks, std::int64_t pixels, std::uint8_t* rgb) {
    for (; pixels > 0; --pixels, inks += 4) {
      for (int c = 0; c < 3; ++c) *rgb++ = to_8_bits(std::uint64_t(inks[c]) * inks[3], 255 * 255);
    }
  }

  /// libjpeg leaves `f` by longjmp on an error: `f` must not own anything with a destructor.
  template <class F>
  void guarded(const F& f) {
    if (setjmp(jump_) != 0) {
      jpeg_abort_decompress(&jpeg_);
      throw_damaged("JPEG", reason_.data());
    }
    f();
  }
  static JpegReader& of(j_common_ptr jpeg) { return *static_cast<JpegReader*>(jpeg->client_data); }
  [[noreturn]] static void leave(j_common_ptr jpeg) {
    static_assert(std::tuple_size_v<decltype(reason_)> >= JMSG_LENGTH_MAX);
    jpeg->err->format_message(jpeg, of(jpeg).reason_.data());
    longjmp(of(jpeg).jump_, 1);
  }
  static void heed(j_common_ptr jpeg, int level) {
    if (level < 0 && loses_pixels(jpeg->err->msg_code)) leave(jpeg);
  }
  static void count_scans(j_common_ptr jpeg) {
    if (of(jpeg).jpeg_.input_scan_number <= kMostScans) return;
    JpegReader& reader = of(jpeg);
    *fmt::format_to(reader.reason_.data(), "more than {} scans", kMostScans) = '\0';
    longjmp(reader.jump_, 1);
  }

  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_{};
  std::array<char, JMSG_LENGTH_MAX> reason_{};
  std::vector<std::uint8_t> few_rows_;
};

}  // namespace

std::unique_ptr<ImageReader> jpeg_reader() { return std::make_unique<JpegReader>(); }

}  // namespace d5::detail
