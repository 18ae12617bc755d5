// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openjpeg.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/image/format.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Source of bytes for OpenJPEG.
struct Source {
  ImageBytes bytes;
  std::size_t place = 0;

  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T count, void* data) {
    auto& [bytes, place] = *static_cast<Source*>(data);
    const std::size_t n = std::min(std::size_t(count), bytes.size() - place);
    if (n == 0) return OPJ_SIZE_T(-1);  // the end
    std::copy_n(bytes.data() + place, n, static_cast<std::uint8_t*>(to));
    place += n;
    return n;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* data) {
    auto& [bytes, place] = *static_cast<Source*>(data);
    if (count < 0 || std::uint64_t(count) > bytes.size() - place) return -1;
    place += std::size_t(count);
    return count;
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* data) {
    auto& [bytes, place] = *static_cast<Source*>(data);
    if (to < 0 || std::uint64_t(to) > bytes.size()) return OPJ_FALSE;
    place = std::size_t(to);
    return OPJ_TRUE;
  }
};

struct Destroy {
  void operator()(opj_codec_t* codec) const { opj_destroy_codec(codec); }
  void operator()(opj_image_t* image) const { opj_image_destroy(image); }
};
struct DestroyStream {
  void operator()(opj_stream_t* stream) const { opj_stream_destroy(stream); }
};

class Jpeg2000Decoder {
 public:
  explicit Jpeg2000Decoder(ImageBytes bytes)
      : source_{bytes},
        codec_(opj_create_decompress(bytes[0] == 0 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K)),
        stream_(opj_stream_create(kBufferBytes, OPJ_STREAM_READ)) {
    if (!codec_ || !stream_) throw MemoryError("image: OpenJPEG cannot be started");
    opj_set_error_handler(codec_.get(), keep_reason, this);
    opj_stream_set_user_data(stream_.get(), &source_, nullptr);
    opj_stream_set_user_data_length(stream_.get(), bytes.size());
    opj_stream_set_read_function(stream_.get(), Source::read);
    opj_stream_set_skip_function(stream_.get(), Source::skip);
    opj_stream_set_seek_function(stream_.get(), Source::seek);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    opj_image_t* image = nullptr;
    const bool read = opj_setup_decoder(codec_.get(), &parameters) != 0 &&
                      opj_read_header(stream_.get(), codec_.get(), &image) != 0;
    image_.reset(image);
    if (!read) throw_damaged("JPEG 2000", reason_.data());
  }

  const opj_image_t& header() const { return *image_; }
  const opj_image_t& decode() {
    if (opj_decode(codec_.get(), stream_.get(), image_.get()) == 0 ||
        opj_end_decompress(codec_.get(), stream_.get()) == 0) {
      throw_damaged("JPEG 2000", reason_.data());
    }
    return *image_;
  }

 private:
  static void keep_reason(const char* reason, void* decoder) {
    auto& to = static_cast<Jpeg2000Decoder*>(decoder)->reason_;
    std::strncpy(to.data(), reason, to.size() - 1);
    to[std::strcspn(to.data(), "\n")] = '\0';
  }

  static constexpr OPJ_SIZE_T kBufferBytes = 1 << 16;
  Source source_;
  std::array<char, 256> reason_{};
  std::unique_ptr<opj_codec_t, Destroy> codec_;
  std::unique_ptr<opj_stream_t, DestroyStream> stream_;
  std::unique_ptr<opj_image_t, Destroy> image_;
};

/// Accepts gray or RGB, optionally with alpha, with one sample per pixel.
void expect_plain(const opj_image_t& image) {
  const bool plain_colors =
      image.color_space == OPJ_CLRSPC_UNSPECIFIED || image.color_space == OPJ_CLRSPC_SRGB ||
      image.color_space == OPJ_CLRSPC_GRAY || image.color_space == OPJ_CLRSPC_UNKNOWN;
  bool plain = plain_colors && image.numcomps >= 1 && image.numcomps <= 4;
  for (std::uint32_t c = 0; plain && c < image.numcomps; ++c) {
    const opj_image_comp_t& channel = image.comps[c];
    plain = channel.dx == image.comps[0].dx && channel.dy == image.comps[0].dy &&
            channel.w == image.comps[0].w && channel.h == image.comps[0].h && channel.prec >= 1 &&
            channel.prec <= 31;
  }
  if (plain) return;
  throw Unsupported(fmt::format(
      "image: a JPEG 2000 image of {} channels in color space {} is not decoded, only gray and RGB "
      "with one sample per pixel; convert it",
      image.numcomps, int(image.color_space)));
}

}  // namespace

Tensor decode_jpeg2000(ImageBytes bytes) {
  Jpeg2000Decoder decoder(bytes);
  expect_plain(decoder.header());
  Tensor rgb = rgb_image(decoder.header().comps[0].h, decoder.header().comps[0].w);
  const opj_image_t& image = decoder.decode();
  expect_plain(image);  // a palette expands one channel to several
  const opj_image_comp_t& first = image.comps[0];
  if (Shape{first.h, first.w, 3} != rgb.shape()) {
    throw_damaged("JPEG 2000", "its size changes");
  }
  for (std::size_t c = 0; c < 3; ++c) {
    const opj_image_comp_t& channel = image.comps[image.numcomps < 3 ? 0 : c];
    if (!channel.data) throw_damaged("JPEG 2000", "a channel has no samples");
    const std::int64_t most = (std::int64_t{1} << channel.prec) - 1;
    const std::int64_t zero = channel.sgnd != 0 ? std::int64_t{1} << (channel.prec - 1) : 0;
    std::uint8_t* to = rgb.data<std::uint8_t>() + c;
    for (std::int64_t i = 0; i < rgb.elements() / 3; ++i) {
      const std::int64_t value = std::clamp<std::int64_t>(channel.data[i] + zero, 0, most);
      to[3 * i] = to_8_bits(std::uint64_t(value), std::uint64_t(most));
    }
  }
  return rgb;
}

}  // namespace d5::detail
