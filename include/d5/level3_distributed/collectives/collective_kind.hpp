// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5 {

/// One kind of collective whose algorithms are chosen by name: what checks and measures them all
/// needs to know.
///
/// Every kind moves one sequence of elements, of which rank r brings `brings(r)` and gets
/// `gets(r)`, equal as can be where it is a part:
///
///     kind            brings    gets      element j of what it gets
///     all_reduce      all       all       of all ranks' j, reduced
///     broadcast       all       all       the root's j
///     reduce_scatter  all       part r    of all ranks' j, reduced
///     all_gather      part r    all       that of the rank whose part it is
struct CollectiveKind {
  /// An algorithm that was made; the call has the tensors of `call_of`.
  struct Algorithm {
    std::shared_ptr<Collective> algorithm;
    std::function<std::unique_ptr<Request>(Communicator&, CommunicationCall& call)> start;
  };

  CallKind call;
  std::string word;    ///< of the program: "reduce-scatter"
  std::string plural;  ///< of `d5 list`
  std::vector<std::string> (*names)();
  /// Throws: NotFound, ValueError.
  Algorithm (*make)(const EntryChoice& choice);
  /// Bytes on the wire of the slowest link, for each byte of the data, of an algorithm that sends
  /// no more than it must: algorithm bandwidth times it is the bus bandwidth. Source: nccl-tests.
  double (*bus_factor)(int ranks);

  [[nodiscard]] bool reduces() const {
    return call == CallKind::all_reduce || call == CallKind::reduce_scatter;
  }
  [[nodiscard]] ElementRange brings(int rank, const Parts& parts) const {
    return call == CallKind::all_gather ? parts[rank] : ElementRange{0, parts.elements()};
  }
  [[nodiscard]] ElementRange gets(int rank, const Parts& parts) const {
    return call == CallKind::reduce_scatter ? parts[rank] : ElementRange{0, parts.elements()};
  }
  /// Tensors for one call on a rank; what it brings is in `input`, or in `output` where the call
  /// has one tensor alone.
  [[nodiscard]] CommunicationCall call_of(DType dtype, int rank, const Parts& parts) const;
  [[nodiscard]] static Tensor& brought(CommunicationCall& call) {
    return call.input.defined() ? call.input : call.output;
  }
};

/// All-reduce, broadcast, reduce-scatter, all-gather.
[[nodiscard]] const std::vector<CollectiveKind>& collective_kinds();
/// Throws: ValueError for a call of another kind.
[[nodiscard]] const CollectiveKind& collective_kind(CallKind call);

}  // namespace d5
