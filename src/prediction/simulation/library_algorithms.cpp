// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/communicator/transport.hpp"
#include "prediction/simulation/library_call.hpp"
#include "prediction/simulation/library_decisions.hpp"

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

/// Sends from each rank to each, all at once.
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

/// Dissemination barrier: in round k each rank receives from the one 2^k before it, ceil(log2 n)
/// rounds of empty messages.
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

/// Sends from the root to each rank, all at once.
CommunicationSchedule broadcast_to_each(Communicator& ranks, CommunicationCall call, int tag) {
  Requests calls;
  if (call.peer != ranks.rank()) {
    calls.push_back(ranks.start_receive(call.output, call.peer, tag));
  } else {
    for (int rank = 0; rank < ranks.size(); ++rank) {
      if (rank != call.peer) calls.push_back(ranks.start_send(call.output, rank, tag));
    }
  }
  co_await calls;
}

/// Sends each rank's part to every rank, all at once.
CommunicationSchedule gather_from_each(Communicator& ranks, CommunicationCall call, int tag) {
  const RankViews from(call.output, call.output_counts, ranks.size());
  Requests calls;
  for (int distance = 1; distance < ranks.size(); ++distance) {
    const int sender = (ranks.rank() + ranks.size() - distance) % ranks.size();
    Tensor part = from[sender];
    calls.push_back(ranks.start_receive(part, sender, tag));
    calls.push_back(ranks.start_send(call.input, (ranks.rank() + distance) % ranks.size(), tag));
  }
  copy_flat(ranks, from[ranks.rank()], call.input);
  co_await calls;
}

/// Reduces over a binomial tree to rank 0, which then sends each rank its part, all at once.
CommunicationSchedule reduce_then_scatter(Communicator& ranks, CommunicationCall call, int tag) {
  const int n = ranks.size(), me = ranks.rank();
  Tensor sum = ranks.scratch(call.input.desc(), call.input);
  Tensor other = ranks.scratch(call.input.desc(), call.input);
  ranks.copy_local(sum, call.input);
  for (int distance = 1; distance < n; distance *= 2) {
    Requests calls;
    if (me % (2 * distance) != 0) {
      calls.push_back(ranks.start_send(sum, me - distance, tag));
      co_await calls;
      break;
    }
    if (me + distance >= n) continue;
    calls.push_back(ranks.start_receive(other, me + distance, tag));
    co_await calls;
    ranks.reduce_local(sum, other, call.reduction);
  }
  Requests calls;
  if (me != 0) {
    calls.push_back(ranks.start_receive(call.output, 0, tag));
  } else {
    const RankViews to(sum, call.input_counts, n);
    for (int rank = 1; rank < n; ++rank) calls.push_back(ranks.start_send(to[rank], rank, tag));
    copy_flat(ranks, call.output.reshaped({call.output.elements()}), to[0]);
  }
  co_await calls;
}

bool is_power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }

std::int64_t bytes_of(const Tensor& data) { return static_cast<std::int64_t>(data.bytes()); }

}  // namespace

LibraryAlgorithms::LibraryAlgorithms()
    : doubling_(all_reduces().at("recursive_doubling").make()),
      ring_(all_reduces().at("ring").make()),
      tree_(all_reduces().at("binomial_tree").make()),
      rabenseifner_(all_reduces().at("rabenseifner").make()),
      binomial_(broadcasts().at("binomial").make()),
      split_(broadcasts().at("scatter_all_gather").make()),
      chain_(broadcasts().at("chain").make({{"segment_bytes", std::int64_t{1} << 40}})),
      gather_doubling_(all_gathers().at("recursive_doubling").make()),
      gather_bruck_(all_gathers().at("bruck").make()),
      gather_ring_(all_gathers().at("ring").make()),
      scatter_halving_(reduce_scatters().at("recursive_halving").make()) {}

std::unique_ptr<Request> LibraryAlgorithms::run(Communicator& ranks,
                                                const CommunicationCall& call) {
  const int n = ranks.size();
  Tensor output = call.output;
  if (call.kind == CallKind::all_reduce) {
    const std::string_view choice = open_mpi_all_reduce(n, bytes_of(output));
    const bool rings = choice.ends_with("ring");
    AllReduce& algorithm = choice == "nonoverlapping"        ? *tree_
                           : choice == "rabenseifner"        ? *rabenseifner_
                           : rings && output.elements() >= n ? *ring_
                                                             : *doubling_;
    return algorithm.start(ranks, output, call.reduction);
  }
  if (call.kind == CallKind::broadcast) {
    const std::string_view choice = open_mpi_broadcast(n, bytes_of(output));
    if (choice == "basic_linear") {
      return run_schedule(ranks, broadcast_to_each(ranks, call, ranks.own_tag()));
    }
    Broadcast& algorithm = choice == "chain" || choice == "pipeline" ? *chain_
                           : choice == "scatter_allgather"           ? *split_
                                                                     : *binomial_;
    return algorithm.start(ranks, output, call.peer);
  }
  // The MPI transport starts the collective and waits if parts have different sizes.
  if (call.kind == CallKind::all_gather && call.output_counts.empty()) {
    const std::string_view choice = open_mpi_all_gather(n, bytes_of(call.input));
    const bool doubles = choice == "recursive_doubling" && is_power_of_two(n);
    const bool bruck = choice == "recursive_doubling" || choice == "bruck";
    AllGather& algorithm = doubles ? *gather_doubling_ : bruck ? *gather_bruck_ : *gather_ring_;
    return algorithm.start(ranks, call.input, output);
  }
  if (call.kind == CallKind::reduce_scatter && call.input_counts.empty() &&
      open_mpi_reduce_scatter(n, bytes_of(output)) != "basic_linear") {
    return scatter_halving_->start(ranks, call.input, output, call.reduction);
  }
  return start(ranks, call);
}

std::unique_ptr<Request> LibraryAlgorithms::start(Communicator& ranks,
                                                  const CommunicationCall& call) {
  constexpr int kFew = 4;  // most ranks of a broadcast to all at once
  Tensor output = call.output;
  const auto schedule = [&](const auto& of) {
    return run_schedule(ranks, of(ranks, call, ranks.own_tag()));
  };
  switch (call.kind) {
    case CallKind::all_reduce:
      return tree_->start(ranks, output, call.reduction);
    case CallKind::broadcast:
      if (ranks.size() <= kFew) return schedule(broadcast_to_each);
      return binomial_->start(ranks, output, call.peer);
    case CallKind::all_gather:
      return schedule(gather_from_each);
    case CallKind::reduce_scatter:
      return schedule(reduce_then_scatter);
    case CallKind::gather:
      return schedule(gather);
    case CallKind::scatter:
      return schedule(scatter);
    case CallKind::all_to_all:
      return schedule(all_to_all);
    case CallKind::barrier:
      return run_schedule(ranks, barrier(ranks, ranks.own_tag()));
    default:
      throw Unsupported(fmt::format("a simulated rank's library has no {}", name_of(call.kind)));
  }
}

}  // namespace d5::detail
