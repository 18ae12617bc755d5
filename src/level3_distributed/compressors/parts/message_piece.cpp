// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/compressors/parts/message_piece.hpp"

#include <algorithm>

namespace d5::detail {

std::vector<MessagePiece> pieces_of(const GatheredCompressor& compressor,
                                    std::pair<std::int64_t, std::int64_t> elements,
                                    std::span<const GradientPart> parts) {
  std::vector<MessagePiece> pieces;
  const auto [first, last] = elements;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    pieces.push_back({static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin),
                      static_cast<std::size_t>(message_bytes(pieces)),
                      static_cast<std::size_t>(compressor.message_bytes(end - begin))});
  };
  if (!compressor.by_part() || parts.empty()) {
    add(first, last);
    return pieces;
  }
  for (const GradientPart& part : parts) {
    const std::int64_t begin = std::max(part.offset, first);
    const std::int64_t end = std::min(part.offset + part.shape.elements(), last);
    if (begin < end) add(begin, end);
  }
  return pieces;
}

std::int64_t message_bytes(const std::vector<MessagePiece>& pieces) {
  if (pieces.empty()) return 0;
  return static_cast<std::int64_t>(pieces.back().message_begin + pieces.back().message_bytes);
}

}  // namespace d5::detail
