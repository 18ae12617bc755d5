// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Elements [begin, end) of a buffer.
struct ElementRange {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
};

/// What one rank does in a collective over one buffer, round by round, before anything is sent: it
/// can be counted, and tried on any number of ranks without a launcher.
///
///     CollectivePlan plan;                                   // two ranks exchange, and add
///     plan.round(0).sends.push_back({1 - rank, {0, n}});
///     plan.round(0).receives.push_back({1 - rank, {0, n}, CollectivePlan::Then::reduce});
///     start_plan(ranks, plan, data)->wait();
///
/// A round sends what the buffer held before it. Its receives are reduced in their order, so the
/// order of operands is the plan's and not that of arrival. Two ranks' messages of one direction
/// meet in the order of their rounds.
struct CollectivePlan {
  enum class Then {
    keep,                  ///< overwrites the range
    reduce,                ///< range ⊕ what came
    reduce_incoming_first  ///< what came ⊕ range: of two that exchange, one reduces so
  };
  struct Send {
    int to = 0;
    ElementRange range = {};
  };
  struct Receive {
    int from = 0;
    ElementRange range = {};
    Then then = Then::keep;
  };
  struct Round {
    std::vector<Send> sends = {};
    std::vector<Receive> receives = {};
  };
  std::vector<Round> rounds = {};

  /// That of an index; there are at least as many afterwards.
  Round& round(std::size_t index);
  /// The one after all others.
  Round& next_round() { return round(rounds.size()); }
  /// What `Traffic` counts of it.
  [[nodiscard]] Traffic::Line volume(std::int64_t element_bytes) const;
};

/// Carries it out on a flat view of `data`, under way when it returns; all ranks start plans that
/// fit together. `finish` is called once, after the last round. `chunk_bytes` is what the plan
/// heeds of its resources (`CommunicationResources`), for records.
[[nodiscard]] std::unique_ptr<Request> start_plan(Communicator& ranks, CollectivePlan plan,
                                                  const Tensor& data,
                                                  Reduction reduction = Reduction::sum,
                                                  std::function<void()> finish = {},
                                                  std::optional<std::int64_t> chunk_bytes = {});

}  // namespace d5
