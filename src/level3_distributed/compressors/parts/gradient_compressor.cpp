// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"

namespace d5 {

RandomStream compression_stream(std::uint64_t seed, const CompressionPlace& place, int rank) {
  // Rank numbers take 16 bits, which is enough for every job.
  return RandomStream(
      seed, static_cast<std::uint32_t>(place.step),
      static_cast<std::uint32_t>(place.bucket << 16) | (static_cast<std::uint32_t>(rank) & 0xffff));
}

RandomStream shared_compression_stream(std::uint64_t seed, const CompressionPlace& place) {
  return compression_stream(seed, place, 0xffff);
}

}  // namespace d5
