// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/sparse/sparse_stream.hpp"

namespace d5 {

/// A sparse all-reduce algorithm. One object serves one sequence of streams (such as one bucket),
/// step after step, and may keep state that ranks agreed on.
///
///     auto sum = sparse_all_reduces().at("split_all_gather").make();
///     sum->start(*world(), stream)->wait();
class SparseAllReduce {
 public:
  virtual ~SparseAllReduce() = default;
  /// Starts the sum. When the request is done, `stream` is the sum of all ranks' streams, or the
  /// part of it that the algorithm keeps, with the same bits on every rank. Streams have the same
  /// size. `ranks` must not be used for anything else meanwhile. This object and `stream` must
  /// outlive the request.
  /// Throws: CommunicationError for a malformed message.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& ranks,
                                                       SparseStream& stream) = 0;
  /// State for a checkpoint.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  virtual void restore(const ValueMap& state) { (void)state; }
};

using SparseAllReduceEntry = Entry<std::shared_ptr<SparseAllReduce>()>;
/// All algorithms by name; src/level3_distributed/sparse holds the built-in ones.
[[nodiscard]] Registry<SparseAllReduceEntry>& sparse_all_reduces();

}  // namespace d5
