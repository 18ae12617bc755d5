// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/sparse/sparse_stream.hpp"

namespace d5 {

/// One algorithm that sums sparse streams over ranks: one object for the streams of one thing, step
/// after step, of which it may keep what ranks agreed on.
///
///     auto sum = sparse_all_reduces().at("split_all_gather").make();
///     sum->start(*world(), stream)->wait();
class SparseAllReduce {
 public:
  virtual ~SparseAllReduce() = default;
  /// When the request is done, `stream` is the sum of all ranks' streams, or as much of it as the
  /// algorithm keeps, the same bits on every rank. Streams are of one size; `ranks` does nothing
  /// else until then. This object and `stream` outlive the request.
  /// Throws: CommunicationError for a message that no algorithm sends.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& ranks,
                                                       SparseStream& stream) = 0;
  /// What a checkpoint keeps.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  virtual void restore(const ValueMap& state) { (void)state; }
};

using SparseAllReduceEntry = Entry<std::shared_ptr<SparseAllReduce>()>;
/// All by name; src/level3_distributed/sparse holds the built-in ones.
[[nodiscard]] Registry<SparseAllReduceEntry>& sparse_all_reduces();

}  // namespace d5
