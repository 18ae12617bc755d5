// SPDX-License-Identifier: Apache-2.0
#include "core/files/deflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

struct Deflater::Stream {
  z_stream z{};
  explicit Stream(int window_bits) {
    constexpr int kUsualMemory = 8;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, kUsualMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw MemoryError("zlib cannot be started");
    }
  }
  ~Stream() { deflateEnd(&z); }

  void run(std::string& packed, int flush) {
    std::array<Bytef, 1 << 16> piece;
    do {
      z.next_out = piece.data();
      z.avail_out = uInt(piece.size());
      deflate(&z, flush);
      packed.append(reinterpret_cast<const char*>(piece.data()), piece.size() - z.avail_out);
    } while (z.avail_out == 0);
  }
};

Deflater::Deflater(Wrapper wrapper)
    : stream_(std::make_unique<Stream>(wrapper == Wrapper::gzip ? 16 + MAX_WBITS : MAX_WBITS)) {}

Deflater::~Deflater() = default;

std::string Deflater::add(std::string_view bytes) {
  constexpr std::size_t kMostPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
  std::string packed;
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kMostPiece);
    stream_->z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_->z.avail_in = uInt(count);
    stream_->run(packed, Z_NO_FLUSH);
    bytes.remove_prefix(count);
  }
  return packed;
}

std::string Deflater::finish() {
  std::string packed;
  stream_->run(packed, Z_FINISH);
  return packed;
}

}  // namespace d5::detail
