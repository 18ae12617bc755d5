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

/// The sends and receives of one rank in a collective over one buffer, round by round. A plan is
/// data: its traffic can be counted, and it can be tested for any number of ranks without a
/// launcher.
///
///     CollectivePlan plan;                                   // two ranks exchange and add
///     plan.round(0).sends.push_back({1 - rank, {0, n}});
///     plan.round(0).receives.push_back({1 - rank, {0, n}, CollectivePlan::Then::reduce});
///     start_plan(ranks, plan, data)->wait();
///
/// A round sends what the buffer held before the round. Its receives are reduced in the order of
/// the plan, not of arrival. Messages from one rank to another match in the order of their rounds.
struct CollectivePlan {
  enum class Then {
    keep,                  ///< overwrites the range
    reduce,                ///< range ⊕ received
    reduce_incoming_first  ///< received ⊕ range: one of two ranks that exchange uses it
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

  /// The round at `index`; missing rounds are added.
  Round& round(std::size_t index);
  /// Appends a round.
  Round& next_round() { return round(rounds.size()); }
  /// The traffic that `Traffic` counts for this plan.
  [[nodiscard]] Traffic::Line volume(std::int64_t element_bytes) const;
};

/// Whether the round reduces into a range that it sends: its sends end first.
[[nodiscard]] bool sends_what_it_reduces(const CollectivePlan::Round& round);

/// The rounds of a plan, each made when its turn comes.
struct PlannedRounds {
  std::size_t count = 0;
  std::function<CollectivePlan::Round(std::size_t index)> round;
  std::int64_t scratch_elements = 0;  ///< received for reduction in the largest round
};
[[nodiscard]] PlannedRounds rounds_of(CollectivePlan plan);

/// Starts the rounds on a flat view of `data`; the plans of all ranks must match. `finish` is
/// called once, after the last round. `chunk_bytes` is the chunk size that the plan was made with
/// (`CommunicationResources`), for the record.
[[nodiscard]] std::unique_ptr<Request> start_plan(Communicator& ranks, PlannedRounds rounds,
                                                  const Tensor& data,
                                                  Reduction reduction = Reduction::sum,
                                                  std::function<void()> finish = {},
                                                  std::optional<std::int64_t> chunk_bytes = {});

}  // namespace d5
