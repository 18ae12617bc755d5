// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "level3_distributed/compressors/parts/message_piece.hpp"

namespace d5 {

std::unique_ptr<Request> GatheredCompressor::start(Communicator& ranks, AllReduce&, Tensor value,
                                                   Tensor rest, const CompressionPlace& place) {
  return run_schedule(ranks, gather(ranks, std::move(value), std::move(rest), place));
}

CommunicationSchedule GatheredCompressor::gather(Communicator& ranks, Tensor value, Tensor rest,
                                                 CompressionPlace place) {
  const auto pieces = detail::pieces_of(*this, {0, value.elements()}, place.parts);
  const std::int64_t bytes = detail::message_bytes(pieces);
  Tensor mine = Tensor::empty(DType::uint8, {bytes});
  Tensor all = Tensor::empty(DType::uint8, {bytes * ranks.size()});
  RandomStream random = compression_stream(seed(), place, ranks.rank());
  for (const detail::MessagePiece& piece : pieces) {
    compress(piece.values(value.span<float>()), random, piece.message(mine.span<std::uint8_t>()));
  }
  if (rest.defined()) {
    rest.copy_from(value);
    for (const detail::MessagePiece& piece : pieces) {
      add(piece.message(mine.span<std::uint8_t>()), -1, piece.values(rest.span<float>()));
    }
  }
  auto gathered = ranks.start_all_gather(mine, all);
  co_await gathered;
  std::ranges::fill(value.span<float>(), 0.0f);
  for (int r = 0; r < ranks.size(); ++r) {
    Tensor message = all.slice(r * bytes, (r + 1) * bytes);
    for (const detail::MessagePiece& piece : pieces) {
      add(piece.message(message.span<std::uint8_t>()), 1, piece.values(value.span<float>()));
    }
  }
  finish(value.span<float>());
}

}  // namespace d5
