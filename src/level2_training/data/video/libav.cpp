// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"
#include "level2_training/data/video/video.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

namespace d5::detail {
namespace {

/// Formats that refer to no other files: a playlist could make d5 read any file.
constexpr const char* kFormats =
    "avi,mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpeg,mpegts,ogg,flv,asf";

struct Ends {
  void operator()(AVFormatContext* file) const { avformat_close_input(&file); }
  void operator()(AVCodecContext* decoder) const { avcodec_free_context(&decoder); }
  void operator()(AVFrame* picture) const { av_frame_free(&picture); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
  void operator()(AVDictionary* options) const { av_dict_free(&options); }
};
template <class T>
using Owned = std::unique_ptr<T, Ends>;

/// The first video stream of a file, from its start.
class PictureStream {
 public:
  explicit PictureStream(const std::string& path)
      : path_(path), packet_(av_packet_alloc()), frame_(av_frame_alloc()) {
    av_log_set_level(AV_LOG_QUIET);  // failures are reported as exceptions
    AVDictionary* options = nullptr;
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    av_dict_set(&options, "format_whitelist", kFormats, 0);
    AVFormatContext* file = nullptr;
    // The prefix "file:" prevents a name with a colon from being read as an address.
    const int status = avformat_open_input(&file, ("file:" + path).c_str(), nullptr, &options);
    const Owned<AVDictionary> unused(options);
    check(status, "is not a video");
    file_.reset(file);
    check(avformat_find_stream_info(file, nullptr), "is not a video");
    stream_ = av_find_best_stream(file, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    check(stream_, "has no pictures");
  }

  /// Reads the next packet of the stream; false at the end.
  bool next_packet() {
    for (;;) {
      av_packet_unref(packet_.get());
      const int status = av_read_frame(file_.get(), packet_.get());
      if (status == AVERROR_EOF) return false;
      check(status, "cannot be read");
      if (packet_->stream_index == stream_ && packet_->size > 0) return true;
    }
  }

  /// Decodes the next picture; false at the end.
  bool next_picture() {
    if (!decoder_) open_decoder();
    for (;;) {
      const int status = avcodec_receive_frame(decoder_.get(), frame_.get());
      if (status == 0) return true;
      if (status == AVERROR_EOF) return false;
      if (status != AVERROR(EAGAIN)) check(status, "a picture cannot be decoded");
      const bool more = next_packet();
      check(avcodec_send_packet(decoder_.get(), more ? packet_.get() : nullptr),
            "a picture cannot be decoded");
    }
  }

  /// The current picture, as pixels of three bytes.
  [[nodiscard]] Tensor pixels() {
    const int width = frame_->width, height = frame_->height;
    // Without further flags the pixels equal those of PyAV, and of torchvision.
    scaler_.reset(sws_getCachedContext(scaler_.release(), width, height,
                                       AVPixelFormat(frame_->format), width, height,
                                       AV_PIX_FMT_RGB24, SWS_BILINEAR, nullptr, nullptr, nullptr));
    if (!scaler_) check(AVERROR(EINVAL), "its pixels are of an unknown format");
    // libswscale writes whole vectors, past the end of a row.
    constexpr int kVector = 64;
    const int row = (3 * width + kVector - 1) / kVector * kVector;
    rows_.resize(std::size_t(row) * std::size_t(height) + kVector);
    const std::array<std::uint8_t*, 4> to{rows_.data()};
    const std::array<int, 4> steps{row};
    check(sws_scale(scaler_.get(), frame_->data, frame_->linesize, 0, height, to.data(),
                    steps.data()),
          "its pixels cannot be read");
    Tensor image = Tensor::empty(DType::uint8, {height, width, 3});
    for (int y = 0; y < height; ++y) {
      std::memcpy(image.data<std::uint8_t>() + std::size_t(y) * std::size_t(width) * 3,
                  rows_.data() + std::size_t(y) * std::size_t(row), std::size_t(width) * 3);
    }
    return image;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("video '{}': {}", printable(path_), what));
  }

 private:
  void open_decoder() {
    const AVCodecParameters* const parameters = file_->streams[stream_]->codecpar;
    const AVCodec* const codec = avcodec_find_decoder(parameters->codec_id);
    if (!codec) {
      throw Unsupported(fmt::format("video '{}': libav has no decoder of '{}'; convert it",
                                    printable(path_), avcodec_get_name(parameters->codec_id)));
    }
    decoder_.reset(avcodec_alloc_context3(codec));
    check(avcodec_parameters_to_context(decoder_.get(), parameters), "cannot be decoded");
    decoder_->max_pixels = kMostImagePixels;
    decoder_->thread_count = 1;  // the caller has its own threads
    check(avcodec_open2(decoder_.get(), codec, nullptr), "cannot be decoded");
  }

  void check(int status, const char* what) const {
    if (status >= 0) return;
    std::array<char, AV_ERROR_MAX_STRING_SIZE> reason{};
    av_strerror(status, reason.data(), reason.size());
    fail(fmt::format("{}: {}", what, reason.data()));
  }

  std::string path_;
  Owned<AVPacket> packet_;
  Owned<AVFrame> frame_;
  Owned<AVFormatContext> file_;
  Owned<AVCodecContext> decoder_;
  Owned<SwsContext> scaler_;
  int stream_ = -1;
  std::vector<std::uint8_t> rows_;
};

class VideoFile final : public Video {
 public:
  explicit VideoFile(const std::string& path) : path_(path) {
    PictureStream stream(path);
    while (stream.next_packet()) ++pictures_;
    if (pictures_ == 0) stream.fail("has no pictures");
  }

  std::int64_t pictures() override { return pictures_; }

  void read(std::span<const std::int64_t> places, const Take& take) override {
    // A packet with two pictures is followed by an empty one, so there may be this many fewer.
    constexpr std::int64_t kMostMissing = 2;
    PictureStream stream(path_);
    Tensor picture;
    std::int64_t decoded = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      bool more = true;
      while (decoded <= places[i] && (more = stream.next_picture())) {
        if (++decoded > places[i] || decoded >= pictures_ - kMostMissing) picture = stream.pixels();
      }
      if (!more && (!picture.defined() || decoded < pictures_ - kMostMissing)) {
        stream.fail(fmt::format("ends after {} of {} pictures; it is damaged", decoded, pictures_));
      }
      take(i, picture);
    }
  }

 private:
  std::string path_;
  std::int64_t pictures_ = 0;
};

}  // namespace

std::unique_ptr<Video> open_video_file(const std::string& path) {
  return std::make_unique<VideoFile>(path);
}

}  // namespace d5::detail
