// SPDX-License-Identifier: Apache-2.0
#include "core/files/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

struct GzipReader::Stream {
  z_stream z{};
  bool ended = false;  ///< the end of a member; another may follow
  explicit Stream(Packing packing) {
    constexpr int kGzipOnly = 16 + MAX_WBITS, kZlibOnly = MAX_WBITS;
    if (inflateInit2(&z, packing == Packing::zlib ? kZlibOnly : kGzipOnly) != Z_OK)
      throw MemoryError("zlib cannot be started");
  }
  ~Stream() { inflateEnd(&z); }
};

GzipReader::GzipReader(std::string_view bytes, std::string file, Packing packing)
    : left_(bytes), file_(std::move(file)) {
  if (packing == Packing::zlib || bytes.starts_with("\x1f\x8b")) {
    stream_ = std::make_unique<Stream>(packing);
  }
}

GzipReader::~GzipReader() = default;

std::size_t GzipReader::most_left() const {
  if (!stream_) return left_.size();
  constexpr std::size_t kMostRatio = 1032;
  // zlib holds up to a window of output whose input it has read already.
  return left_.size() > std::numeric_limits<std::size_t>::max() / 2 / kMostRatio
             ? std::numeric_limits<std::size_t>::max()
             : left_.size() * kMostRatio + 32768;
}

std::size_t GzipReader::read(void* to, std::size_t count) {
  if (!stream_) {
    count = std::min(count, left_.size());
    if (count > 0) std::memcpy(to, left_.data(), count);
    left_.remove_prefix(count);
    return count;
  }
  constexpr std::size_t kMostPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
  auto& z = stream_->z;
  std::size_t done = 0;
  while (done < count) {
    if (stream_->ended) {
      if (!left_.starts_with("\x1f\x8b")) break;
      inflateReset(&z);
      stream_->ended = false;
    }
    const std::size_t in = std::min(left_.size(), kMostPiece);
    const std::size_t out = std::min(count - done, kMostPiece);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));
    z.avail_in = uInt(in);
    z.next_out = static_cast<Bytef*>(to) + done;
    z.avail_out = uInt(out);
    const int status = inflate(&z, Z_NO_FLUSH);
    left_.remove_prefix(in - z.avail_in);
    done += out - z.avail_out;
    if (status == Z_STREAM_END) {
      stream_->ended = true;
    } else if (status == Z_BUF_ERROR || (status == Z_OK && z.avail_in == 0 && z.avail_out > 0)) {
      throw FormatError(fmt::format(
          "'{}' ends in the middle of its compressed stream; fetch it again", printable(file_)));
    } else if (status != Z_OK) {
      throw FormatError(fmt::format("'{}' has a broken compressed stream ({}); fetch it again",
                                    printable(file_), z.msg ? z.msg : "no details"));
    }
  }
  return done;
}

}  // namespace d5::detail
