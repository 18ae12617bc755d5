// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/level3_distributed/gradient_compressor.hpp"

namespace d5 {
namespace {

/// What is compressed on its own, and where its message lies within the bucket's.
struct Piece {
  std::size_t begin, elements, message_begin, message_bytes;

  template <class T>
  std::span<T> values(std::span<T> bucket) const {
    return bucket.subspan(begin, elements);
  }
  template <class T>
  std::span<T> message(std::span<T> all) const {
    return all.subspan(message_begin, message_bytes);
  }
};

std::vector<Piece> pieces_of(const GatheredCompressor& compressor, std::int64_t elements,
                             std::span<const GradientPart> parts) {
  std::vector<Piece> pieces;
  const auto add = [&](std::int64_t begin, std::int64_t count) {
    const std::size_t at =
        pieces.empty() ? 0 : pieces.back().message_begin + pieces.back().message_bytes;
    pieces.push_back({static_cast<std::size_t>(begin), static_cast<std::size_t>(count), at,
                      static_cast<std::size_t>(compressor.message_bytes(count))});
  };
  if (!compressor.by_part() || parts.empty()) {
    add(0, elements);
    return pieces;
  }
  for (const GradientPart& part : parts) add(part.offset, part.shape.elements());
  return pieces;
}

}  // namespace

std::unique_ptr<Request> GatheredCompressor::start(Communicator& ranks, AllReduce&, Tensor value,
                                                   Tensor rest, const CompressionPlace& place) {
  return run_schedule(ranks, gather(ranks, std::move(value), std::move(rest), place));
}

CommunicationSchedule GatheredCompressor::gather(Communicator& ranks, Tensor value, Tensor rest,
                                                 CompressionPlace place) {
  const std::vector<Piece> pieces = pieces_of(*this, value.elements(), place.parts);
  const auto bytes =
      static_cast<std::int64_t>(pieces.back().message_begin + pieces.back().message_bytes);
  Tensor mine = Tensor::empty(DType::uint8, {bytes});
  Tensor all = Tensor::empty(DType::uint8, {bytes * ranks.size()});
  RandomStream random = compression_stream(seed(), place, ranks.rank());
  for (const Piece& piece : pieces) {
    compress(piece.values(value.span<float>()), random, piece.message(mine.span<std::uint8_t>()));
  }
  if (rest.defined()) {
    rest.copy_from(value);
    for (const Piece& piece : pieces) {
      add(piece.message(mine.span<std::uint8_t>()), -1, piece.values(rest.span<float>()));
    }
  }
  auto gathered = ranks.start_all_gather(mine, all);
  co_await gathered;
  std::ranges::fill(value.span<float>(), 0.0f);
  for (int r = 0; r < ranks.size(); ++r) {
    Tensor message = all.slice(r * bytes, (r + 1) * bytes);
    for (const Piece& piece : pieces) {
      add(piece.message(message.span<std::uint8_t>()), 1, piece.values(value.span<float>()));
    }
  }
  finish(value.span<float>());
}

}  // namespace d5
