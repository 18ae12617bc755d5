// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/sparse/parts/stream_message.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void StreamMessages::send(const SparseStream& stream, int to) {
  const Tensor message = Tensor::empty(DType::uint8, {stream.message_bytes()});
  stream.encode(Tensor(message).span<std::uint8_t>());
  calls_.push_back(ranks_.start_send(message, to, tag_));
}

void StreamMessages::receive(std::int64_t size, int from) {
  incoming_.push_back({from, size,
                       Tensor::empty(DType::uint8, {SparseStream::most_message_bytes(size)}),
                       std::make_unique<Received>()});
  Incoming& last = incoming_.back();
  calls_.push_back(ranks_.start_receive(last.message, from, tag_, last.received.get()));
}

SparseStream StreamMessages::from(int rank) const {
  const auto message = std::ranges::find(incoming_, rank, &Incoming::from);
  const Tensor got = message->message.slice(0, message->received->elements);
  try {
    return SparseStream::decode(got.span<std::uint8_t>(), message->size);
  } catch (const CommunicationError& error) {
    throw CommunicationError(
        fmt::format("rank {}: from rank {}: {}", ranks_.rank(), rank, error.what()));
  }
}

SparseStream joined(const std::vector<SparseStream>& parts,
                    const std::vector<std::int64_t>& begins) {
  const std::int64_t size = begins.back();
  if (std::ranges::any_of(parts, &SparseStream::is_dense)) {
    std::vector<float> whole(static_cast<std::size_t>(size));
    for (std::size_t p = 0; p < parts.size(); ++p) {
      parts[p].write(std::span(whole).subspan(static_cast<std::size_t>(begins[p]),
                                              static_cast<std::size_t>(parts[p].size())));
    }
    return SparseStream::dense(std::move(whole));
  }
  std::vector<std::uint32_t> indexes;
  std::vector<float> values;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const std::uint32_t index : parts[p].indexes()) {
      indexes.push_back(index + static_cast<std::uint32_t>(begins[p]));
    }
    values.insert(values.end(), parts[p].values().begin(), parts[p].values().end());
  }
  return SparseStream(size, std::move(indexes), std::move(values));
}

}  // namespace d5::detail
