// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"

namespace d5::detail {

/// What a `GatheredCompressor` compresses on its own, and where its message lies within the whole.
struct MessagePiece {
  std::size_t begin, elements, message_begin, message_bytes;

  template <class T>
  [[nodiscard]] std::span<T> values(std::span<T> bucket) const {
    return bucket.subspan(begin, elements);
  }
  template <class T>
  [[nodiscard]] std::span<T> message(std::span<T> all) const {
    return all.subspan(message_begin, message_bytes);
  }
};

/// The pieces of a bucket's elements [first, second): what lies there of each part, or all as one
/// where the compressor does not go by parts.
[[nodiscard]] std::vector<MessagePiece> pieces_of(const GatheredCompressor& compressor,
                                                  std::pair<std::int64_t, std::int64_t> elements,
                                                  std::span<const GradientPart> parts);
/// Of all pieces together.
[[nodiscard]] std::int64_t message_bytes(const std::vector<MessagePiece>& pieces);

}  // namespace d5::detail
