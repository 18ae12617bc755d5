// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <utility>
#include <vector>

#include "d5/core/error.hpp"
#include "d5/level3_distributed/communication_schedule.hpp"
#include "d5/level3_distributed/transport.hpp"
#include "prediction/simulation/library_call.hpp"

namespace d5::detail {
namespace {

using Requests = std::vector<std::unique_ptr<Request>>;

/// A tensor's parts by rank, as flat views.
class RankViews {
 public:
  RankViews(const Tensor& all, const RankCounts& counts, int ranks)
      : flat_(all.reshaped({all.elements()})), parts_(counts, all.elements(), ranks) {}
  [[nodiscard]] Tensor operator[](int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return flat_.slice(parts_.begins[r], parts_.begins[r] + parts_.counts[r]);
  }

 private:
  Tensor flat_;
  RankParts parts_;
};

void copy_flat(Communicator& ranks, Tensor into, const Tensor& from) {
  ranks.copy_local(into, from.reshaped({from.elements()}));
}

/// Each to each, all at once.
CommunicationSchedule all_to_all(Communicator& ranks, CommunicationCall call, int tag) {
  const int n = ranks.size(), me = ranks.rank();
  const RankViews to(call.input, call.input_counts, n), from(call.output, call.output_counts, n);
  Requests calls;
  for (int distance = 1; distance < n; ++distance) {
    Tensor part = from[(me + n - distance) % n];
    calls.push_back(ranks.start_receive(part, (me + n - distance) % n, tag));
  }
  for (int distance = 1; distance < n; ++distance) {
    calls.push_back(ranks.start_send(to[(me + distance) % n], (me + distance) % n, tag));
  }
  copy_flat(ranks, from[me], to[me]);
  co_await calls;
}

CommunicationSchedule gather(Communicator& ranks, CommunicationCall call, int tag) {
  Requests calls;
  if (call.peer != ranks.rank()) {
    calls.push_back(ranks.start_send(call.input, call.peer, tag));
  } else {
    const RankViews from(call.output, call.output_counts, ranks.size());
    for (int rank = 0; rank < ranks.size(); ++rank) {
      Tensor part = from[rank];
      if (rank != call.peer) calls.push_back(ranks.start_receive(part, rank, tag));
    }
    copy_flat(ranks, from[call.peer], call.input);
  }
  co_await calls;
}

CommunicationSchedule scatter(Communicator& ranks, CommunicationCall call, int tag) {
  Requests calls;
  if (call.peer != ranks.rank()) {
    calls.push_back(ranks.start_receive(call.output, call.peer, tag));
  } else {
    const RankViews to(call.input, call.input_counts, ranks.size());
    for (int rank = 0; rank < ranks.size(); ++rank) {
      if (rank != call.peer) calls.push_back(ranks.start_send(to[rank], rank, tag));
    }
    copy_flat(ranks, call.output.reshaped({call.output.elements()}), to[call.peer]);
  }
  co_await calls;
}

/// In round k each hears of those 2^k before it: ceil(log2 n) rounds of empty messages.
CommunicationSchedule barrier(Communicator& ranks, int tag) {
  const int n = ranks.size(), me = ranks.rank();
  Tensor nothing = Tensor::empty(DType::uint8, {0});
  for (int distance = 1; distance < n; distance *= 2) {
    Requests calls;
    calls.push_back(ranks.start_receive(nothing, (me + n - distance) % n, tag));
    calls.push_back(ranks.start_send(nothing, (me + distance) % n, tag));
    co_await calls;
  }
}

bool is_power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }

Settings segments_of(std::int64_t bytes) { return {{"segment_bytes", bytes}}; }

}  // namespace

LibraryAlgorithms::LibraryAlgorithms()
    : doubling_(all_reduces().at("recursive_doubling").make()),
      ring_(all_reduces().at("ring").make()),
      segmented_(all_reduces().at("segmented_ring").make(segments_of(1 << 20))),
      tree_(all_reduces().at("binomial_tree").make()),
      binomial_(broadcasts().at("binomial").make()),
      split_(broadcasts().at("scatter_all_gather").make()),
      chain_8k_(broadcasts().at("chain").make(segments_of(8 << 10))),
      chain_16k_(broadcasts().at("chain").make(segments_of(16 << 10))),
      chain_64k_(broadcasts().at("chain").make(segments_of(64 << 10))),
      chain_128k_(broadcasts().at("chain").make(segments_of(128 << 10))),
      gather_doubling_(all_gathers().at("recursive_doubling").make()),
      gather_bruck_(all_gathers().at("bruck").make()),
      gather_ring_(all_gathers().at("ring").make()),
      scatter_halving_(reduce_scatters().at("recursive_halving").make()),
      scatter_ring_(reduce_scatters().at("ring").make()) {}

AllReduce& LibraryAlgorithms::all_reduce(std::int64_t elements, std::int64_t bytes,
                                         int ranks) const {
  if (bytes < 10'000) return *doubling_;
  if (elements <= ranks) return *tree_;  // there: a reduction to one, then a broadcast
  return bytes <= ranks * (std::int64_t{1} << 20) ? *ring_ : *segmented_;
}

Broadcast& LibraryAlgorithms::broadcast(std::int64_t bytes, int ranks) const {
  // Lines that were fitted there to measurements: to how many ranks a pipeline of long segments is
  // the faster one.
  const auto reaches = [&](double per_byte, double offset) {
    return ranks < per_byte * static_cast<double>(bytes) + offset;
  };
  if (bytes < 2048) return *binomial_;
  if (bytes < 370'728) return *split_;
  if (reaches(1.6134e-6, 2.1102)) return *chain_128k_;
  if (ranks < 13) return *split_;
  if (reaches(2.3679e-6, 1.1787)) return *chain_64k_;
  if (reaches(3.2118e-6, 8.7936)) return *chain_16k_;
  return *chain_8k_;
}

std::unique_ptr<Request> LibraryAlgorithms::start(Communicator& ranks,
                                                  const CommunicationCall& call) {
  const int n = ranks.size();
  Tensor output = call.output;
  const auto bytes_of = [](const Tensor& data) { return static_cast<std::int64_t>(data.bytes()); };
  switch (call.kind) {
    case CallKind::all_reduce:
      return all_reduce(output.elements(), bytes_of(output), n)
          .start(ranks, output, call.reduction);
    case CallKind::broadcast:
      return broadcast(bytes_of(output), n).start(ranks, output, call.peer);
    case CallKind::all_gather: {
      AllGather& algorithm = bytes_of(output) >= 50'000 ? *gather_ring_
                             : is_power_of_two(n)       ? *gather_doubling_
                                                        : *gather_bruck_;
      return algorithm.start(ranks, call.input, output, call.output_counts);
    }
    case CallKind::reduce_scatter: {
      const std::int64_t bytes = bytes_of(call.input);
      const bool halves = bytes <= (12 << 10) || (is_power_of_two(n) && bytes <= (256 << 10));
      return (halves ? *scatter_halving_ : *scatter_ring_)
          .start(ranks, call.input, output, call.reduction, call.input_counts);
    }
    case CallKind::gather:
      return run_schedule(ranks, gather(ranks, call, ranks.own_tag()));
    case CallKind::scatter:
      return run_schedule(ranks, scatter(ranks, call, ranks.own_tag()));
    case CallKind::all_to_all:
      return run_schedule(ranks, all_to_all(ranks, call, ranks.own_tag()));
    case CallKind::barrier:
      return run_schedule(ranks, barrier(ranks, ranks.own_tag()));
    default:
      throw Unsupported(fmt::format("a simulated rank's library has no {}", name_of(call.kind)));
  }
}

}  // namespace d5::detail
