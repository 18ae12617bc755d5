// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"

namespace d5::detail {

/// A range that a `GatheredCompressor` compresses on its own, and the place of its message within
/// the whole.
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

/// The pieces of a bucket's elements [first, second): one for each part in the range, or a single
/// one if the compressor does not go by parts.
[[nodiscard]] std::vector<MessagePiece> pieces_of(const GatheredCompressor& compressor,
                                                  std::pair<std::int64_t, std::int64_t> elements,
                                                  std::span<const GradientPart> parts);
/// Message size of all pieces together.
[[nodiscard]] std::int64_t message_bytes(const std::vector<MessagePiece>& pieces);

}  // namespace d5::detail
