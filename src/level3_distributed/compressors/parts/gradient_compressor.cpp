// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"

namespace d5 {

RandomStream compression_stream(std::uint64_t seed, const CompressionPlace& place, int rank) {
  // Ranks have 16 bits: no MPI job of this library has more.
  return RandomStream(
      seed, static_cast<std::uint32_t>(place.step),
      static_cast<std::uint32_t>(place.bucket << 16) | (static_cast<std::uint32_t>(rank) & 0xffff));
}

RandomStream shared_compression_stream(std::uint64_t seed, const CompressionPlace& place) {
  return compression_stream(seed, place, 0xffff);
}

}  // namespace d5
