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

/// One kind of collective whose algorithms are chosen by name, described for the check and the
/// bench, which work for every kind.
///
/// Every kind moves one sequence of elements. Rank r contributes the range `brings(r)` and receives
/// the range `gets(r)`; parts are as equal as possible:
///
///     kind            brings    gets      element j of the result
///     all_reduce      all       all       reduction of all ranks' j
///     broadcast       all       all       the root's j
///     reduce_scatter  all       part r    reduction of all ranks' j
///     all_gather      part r    all       j of the rank that owns the part
struct CollectiveKind {
  /// An instance of an algorithm. `start` takes the tensors of `call_of`.
  struct Algorithm {
    std::shared_ptr<Collective> algorithm;
    std::function<std::unique_ptr<Request>(Communicator&, CommunicationCall& call)> start;
  };

  CallKind call;
  std::string word;    ///< name on the command line: "reduce-scatter"
  std::string plural;  ///< name in `d5 list`
  std::vector<std::string> (*names)();
  /// Throws: NotFound, ValueError.
  Algorithm (*make)(const EntryChoice& choice);
  /// Bus bandwidth divided by algorithm bandwidth: the bytes that an optimal algorithm moves over
  /// the slowest link for each byte of data. Source: nccl-tests.
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
  /// Tensors for one call on a rank. The rank's contribution is in `input`, or in `output` if the
  /// call has only one tensor.
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
