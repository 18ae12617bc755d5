// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "d5/core/error.hpp"
#include "d5/level3_distributed/communication_schedule.hpp"
#include "d5/level3_distributed/sparse_all_reduce.hpp"
#include "level3_distributed/sparse/parts/split_reduce.hpp"

namespace d5::sparse {
namespace {

std::uint32_t magnitude_bits(float value) {
  return std::bit_cast<std::uint32_t>(value) & 0x7fffffff;
}

/// Where a rank would cut the vector for parts of equally many of its own pairs; averaged over
/// ranks they are the parts: what is sent is balanced though gradients crowd together.
Tensor own_begins(const SparseStream& stream, int ranks) {
  Tensor begins = Tensor::zeros(DType::int64, {ranks + 1});
  const auto pairs = static_cast<std::int64_t>(stream.indexes().size());
  for (int r = 1; r < ranks; ++r) {
    begins.data<std::int64_t>()[r] =
        pairs > 0 ? stream.indexes()[static_cast<std::size_t>(pairs * r / ranks)]
                  : stream.size() * r / ranks;
  }
  // The last is the size everywhere; in its place travels how many to keep: all of a dense stream.
  begins.data<std::int64_t>()[ranks] = static_cast<std::int64_t>(stream.values().size());
  return begins;
}

/// Those of `stream` whose magnitude reaches `bound`. Explicit zeros never do.
SparseStream reaching(const SparseStream& stream, std::uint32_t bound) {
  std::vector<std::uint32_t> indexes;
  std::vector<float> values;
  for (std::size_t i = 0; i < stream.values().size(); ++i) {
    if (magnitude_bits(stream.values()[i]) < std::max(bound, 1u)) continue;
    indexes.push_back(stream.is_dense() ? static_cast<std::uint32_t>(i) : stream.indexes()[i]);
    values.push_back(stream.values()[i]);
  }
  return SparseStream(stream.size(), std::move(indexes), std::move(values));
}

/// How many values have each byte at `shift`, of those whose bits above are those of `bound`.
Tensor histogram(const SparseStream& sum, std::uint32_t bound, int shift) {
  Tensor counts = Tensor::zeros(DType::int64, {256});
  for (const float value : sum.values()) {
    const std::uint32_t bits = magnitude_bits(value);
    if (bits == 0 ||
        (std::uint64_t{bits} >> (shift + 8)) != (std::uint64_t{bound} >> (shift + 8))) {
      continue;
    }
    ++counts.data<std::int64_t>()[(bits >> shift) & 255];
  }
  return counts;
}

/// The k largest of the sum, k the average number of the ranks' own (equals of the k-th too). Ranks
/// send 8 k bytes each way or so, however many they are. The k-th magnitude is found byte by byte,
/// by sums of four histograms; the paper keeps one for many steps, and moves pairs between ranks
/// once more, where an all-gather of unequal parts does here.
CommunicationSchedule ok_topk(Communicator& ranks, SparseStream& stream, int tag) {
  const int n = ranks.size();
  Tensor cuts = own_begins(stream, n);
  auto cut = ranks.start_all_reduce(cuts);
  co_await cut;
  std::vector<std::int64_t> begins;
  for (const std::int64_t sum : cuts.span<std::int64_t>()) begins.push_back(sum / n);
  std::int64_t to_find = (cuts.span<std::int64_t>().back() + n - 1) / n;
  begins.back() = stream.size();

  detail::StreamMessages split(ranks, tag);
  detail::exchange_parts(split, ranks, stream, begins);
  co_await split.calls();
  const SparseStream sum = detail::sum_of_parts(split, ranks, stream, begins);

  std::uint32_t bound = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    Tensor counts = histogram(sum, bound, shift);
    auto counted = ranks.start_all_reduce(counts);
    co_await counted;
    const std::int64_t* of = counts.data<std::int64_t>();
    std::uint32_t byte = 255;
    for (; byte > 0 && of[byte] < to_find; --byte) to_find -= of[byte];
    bound |= byte << shift;
  }

  const SparseStream kept = reaching(sum, bound);
  Tensor mine = Tensor::empty(DType::uint8, {kept.message_bytes()});
  kept.encode(mine.span<std::uint8_t>());
  Tensor own_bytes = Tensor::vector<std::int64_t>({mine.elements()});
  Tensor bytes = Tensor::empty(DType::int64, {n});
  auto told = ranks.start_all_gather(own_bytes, bytes);
  co_await told;
  RankCounts counts;
  std::int64_t total = 0;
  for (int r = 0; r < n; ++r) {
    const auto p = static_cast<std::size_t>(r);
    const std::int64_t its = bytes.data<std::int64_t>()[r];
    if (its < 4 || its > SparseStream::most_message_bytes(begins[p + 1] - begins[p])) {
      throw CommunicationError(fmt::format(
          "ok_topk: rank {} announces {} bytes of a part of {} elements; expected 4 to {}", r, its,
          begins[p + 1] - begins[p], SparseStream::most_message_bytes(begins[p + 1] - begins[p])));
    }
    counts.push_back(its);
    total += its;
  }
  Tensor all = Tensor::empty(DType::uint8, {total});
  auto gathered = ranks.start_all_gather(mine, all, counts);
  co_await gathered;
  std::vector<SparseStream> parts;
  std::int64_t at = 0;
  for (int r = 0; r < n; ++r) {
    const auto p = static_cast<std::size_t>(r);
    const Tensor message = all.slice(at, at + counts[p]);
    parts.push_back(SparseStream::decode(message.span<std::uint8_t>(), begins[p + 1] - begins[p]));
    at += counts[p];
  }
  stream = detail::joined(parts, begins);
}

class OkTopKSum final : public SparseAllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& ranks, SparseStream& stream) override {
    return run_schedule(ranks, ok_topk(ranks, stream, ranks.own_tag()));
  }
};

}  // namespace

/// Source: Li and Hoefler, "Near-Optimal Sparse Allreduce for Distributed Deep Learning" (PPoPP
/// 2022).
void register_ok_topk(Registry<SparseAllReduceEntry>& registry) {
  registry.add("ok_topk", SparseAllReduceEntry::of<OkTopKSum>(
                              "the largest of the sum alone (Li and Hoefler, 2022)"));
}

}  // namespace d5::sparse
