// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/sparse/parts/split_reduce.hpp"

namespace d5::detail {
namespace {

SparseStream part_of(const SparseStream& stream, const std::vector<std::int64_t>& begins, int r) {
  const auto p = static_cast<std::size_t>(r);
  return stream.part(begins[p], begins[p + 1]);
}

}  // namespace

void exchange_parts(StreamMessages& messages, const Communicator& ranks, const SparseStream& stream,
                    const std::vector<std::int64_t>& begins) {
  const int n = ranks.size(), rank = ranks.rank();
  const auto own = static_cast<std::size_t>(rank);
  // Each rank begins with its neighbour, so that they do not all send to the same rank at once.
  for (int step = 1; step < n; ++step) {
    messages.receive(begins[own + 1] - begins[own], (rank + n - step) % n);
    messages.send(part_of(stream, begins, (rank + step) % n), (rank + step) % n);
  }
}

SparseStream sum_of_parts(const StreamMessages& messages, const Communicator& ranks,
                          const SparseStream& stream, const std::vector<std::int64_t>& begins) {
  const auto part = [&](int r) {
    return r == ranks.rank() ? part_of(stream, begins, r) : messages.from(r);
  };
  SparseStream sum = part(0);
  for (int r = 1; r < ranks.size(); ++r) sum = sum.plus(part(r));
  return sum;
}

std::vector<std::int64_t> equal_begins(std::int64_t size, int ranks) {
  std::vector<std::int64_t> begins;
  for (int r = 0; r <= ranks; ++r) begins.push_back(size * r / ranks);
  return begins;
}

}  // namespace d5::detail
