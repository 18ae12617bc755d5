// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/level3_distributed/gradient_compressor.hpp"

namespace d5 {

std::unique_ptr<Request> GatheredCompressor::start(Communicator& ranks, AllReduce&, Tensor value,
                                                   Tensor rest, const CompressionPlace& place) {
  return run_schedule(ranks, gather(ranks, std::move(value), std::move(rest), place));
}

CommunicationSchedule GatheredCompressor::gather(Communicator& ranks, Tensor value, Tensor rest,
                                                 CompressionPlace place) {
  const std::int64_t bytes = message_bytes(value.elements());
  Tensor mine = Tensor::empty(DType::uint8, {bytes});
  Tensor all = Tensor::empty(DType::uint8, {bytes * ranks.size()});
  compress(value.span<float>(), compression_stream(seed(), place, ranks.rank()),
           mine.span<std::uint8_t>());
  if (rest.defined()) {
    rest.copy_from(value);
    add(mine.span<std::uint8_t>(), -1, rest.span<float>());
  }
  auto gathered = ranks.start_all_gather(mine, all);
  co_await gathered;
  std::ranges::fill(value.span<float>(), 0.0f);
  for (int r = 0; r < ranks.size(); ++r) {
    const Tensor message = all.slice(r * bytes, (r + 1) * bytes);
    add(message.span<std::uint8_t>(), 1, value.span<float>());
  }
  finish(value.span<float>());
}

}  // namespace d5
