// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"
#include "level3_distributed/sparse/parts/split_reduce.hpp"

namespace d5::sparse {
namespace {

std::uint32_t magnitude_bits(float value) {
  return std::bit_cast<std::uint32_t>(value) & 0x7fffffff;
}

/// The starts of parts with equally many of this rank's own pairs. Their average over ranks gives
/// the partition, which balances messages even if large gradients are clustered.
Tensor own_begins(const SparseStream& stream, int ranks) {
  Tensor begins = Tensor::zeros(DType::int64, {ranks + 1});
  const auto pairs = static_cast<std::int64_t>(stream.indexes().size());
  for (int r = 1; r < ranks; ++r) {
    begins.data<std::int64_t>()[r] =
        pairs > 0 ? stream.indexes()[static_cast<std::size_t>(pairs * r / ranks)]
                  : stream.size() * r / ranks;
  }
  // The last start is the size on every rank; its place is used for the number of elements to keep
  // (all of a dense stream).
  begins.data<std::int64_t>()[ranks] = static_cast<std::int64_t>(stream.values().size());
  return begins;
}

/// The elements of `stream` with a magnitude of at least `bound`, without explicit zeros.
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

/// Histogram of the byte at `shift`, over values whose higher bits equal those of `bound`.
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

struct OkTopKOptions {
  std::int64_t every = 1;

  void declare(OptionList& options) {
    options.add("every", every,
                "number of steps for which threshold and partition are reused (tau' of the paper)",
                {.least = 1});
  }
};

/// The agreed state, the same on all ranks.
struct Agreed {
  std::vector<std::int64_t> begins;  // starts of parts, one more than ranks
  std::uint32_t bound = 0;           // threshold of magnitudes, as bits
  std::int64_t uses = 0;             // number of steps with this state
};

/// Keeps the k largest elements of the sum (and ties of the k-th), where k is the mean number of
/// the ranks' own elements, or about as many by the threshold of an earlier step. Each rank sends
/// and receives about 8 k bytes, whatever the number of ranks. The k-th magnitude is found byte by
/// byte, by sums of four histograms. The paper rebalances pairs between ranks before its
/// all-gather; here the all-gather has unequal parts.
CommunicationSchedule ok_topk(Communicator& ranks, SparseStream& stream, int tag,
                              std::int64_t every, Agreed& agreed) {
  const int n = ranks.size();
  const bool is_new = agreed.uses == 0 || agreed.uses >= every ||
                      static_cast<int>(agreed.begins.size()) != n + 1 ||
                      agreed.begins.back() != stream.size();
  std::int64_t to_find = 0;
  if (is_new) {
    Tensor cuts = own_begins(stream, n);
    auto cut = ranks.start_all_reduce(cuts);
    co_await cut;
    agreed = {};
    for (const std::int64_t sum : cuts.span<std::int64_t>()) agreed.begins.push_back(sum / n);
    to_find = (cuts.span<std::int64_t>().back() + n - 1) / n;
    agreed.begins.back() = stream.size();
  }
  const std::vector<std::int64_t>& begins = agreed.begins;

  detail::StreamMessages split(ranks, tag);
  detail::exchange_parts(split, ranks, stream, begins);
  co_await split.calls();
  const SparseStream sum = detail::sum_of_parts(split, ranks, stream, begins);

  for (int shift = 24; is_new && shift >= 0; shift -= 8) {
    Tensor counts = histogram(sum, agreed.bound, shift);
    auto counted = ranks.start_all_reduce(counts);
    co_await counted;
    const std::int64_t* of = counts.data<std::int64_t>();
    std::uint32_t byte = 255;
    for (; byte > 0 && of[byte] < to_find; --byte) to_find -= of[byte];
    agreed.bound |= byte << shift;
  }
  ++agreed.uses;

  const SparseStream kept = reaching(sum, agreed.bound);
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
  using Options = OkTopKOptions;
  explicit OkTopKSum(const Options& options) : every_(options.every) {}

  std::unique_ptr<Request> start(Communicator& ranks, SparseStream& stream) override {
    // If a threshold is not finite, the next step determines a new one.
    if (agreed_.bound >= std::bit_cast<std::uint32_t>(INFINITY)) agreed_ = {};
    return run_schedule(ranks, ok_topk(ranks, stream, ranks.own_tag(), every_, agreed_));
  }

  ValueMap state() const override {
    if (every_ == 1 || agreed_.uses == 0) return {};
    return {{kBegins, Tensor::vector<std::int64_t>(agreed_.begins)},
            {kBound, Tensor::scalar(std::int64_t{agreed_.bound})},
            {kUses, Tensor::scalar(agreed_.uses)}};
  }

  void restore(const ValueMap& state) override {
    agreed_ = {};
    if (!state.contains(kBegins)) return;
    const auto number = [&state](const char* name) {
      return state_entry(state, name, "ok_topk").item<std::int64_t>();
    };
    const auto begins = state.at(kBegins).tensor().span<std::int64_t>();
    agreed_ = {
        {begins.begin(), begins.end()}, static_cast<std::uint32_t>(number(kBound)), number(kUses)};
    if (!agreed_.begins.empty() && agreed_.begins.front() == 0 &&
        std::ranges::is_sorted(agreed_.begins)) {
      return;
    }
    throw ShapeError(
        "ok_topk: the starts of parts in the checkpoint do not ascend from 0; the checkpoint is "
        "damaged: resume from another one");
  }

 private:
  static constexpr const char *kBegins = "begins", *kBound = "bound", *kUses = "uses";
  std::int64_t every_;
  Agreed agreed_;
};

}  // namespace

/// Source: Li and Hoefler, "Near-Optimal Sparse Allreduce for Distributed Deep Learning" (PPoPP
/// 2022).
void register_ok_topk(Registry<SparseAllReduceEntry>& registry) {
  registry.add("ok_topk", SparseAllReduceEntry::of<OkTopKSum>(
                              "global top-k of the sum (Ok-Topk, Li and Hoefler, 2022)"));
}

}  // namespace d5::sparse
