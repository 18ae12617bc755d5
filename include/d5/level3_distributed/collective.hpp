// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/entry.hpp"
#include "d5/core/registry.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5 {

/// One algorithm of all-reduce, over whatever calls of a communicator it likes.
///
///     auto ring = all_reduces().at("ring").make();
///     ring->start(*world(), gradient)->wait();
class AllReduce {
 public:
  virtual ~AllReduce() = default;
  /// In place and with the same bits on every rank, under way when it returns. Several may be under
  /// way at once if all ranks start them in the same order. This object outlives the request.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                                       Reduction reduction = Reduction::sum) = 0;
};

using AllReduceEntry = Entry<std::shared_ptr<AllReduce>()>;
/// All algorithms by name; src/level3_distributed/collectives holds the built-in ones.
[[nodiscard]] Registry<AllReduceEntry>& all_reduces();

}  // namespace d5
