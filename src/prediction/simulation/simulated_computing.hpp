// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "d5/prediction/graph/slowdown.hpp"
#include "prediction/simulation/fiber_scheduler.hpp"
#include "prediction/simulation/message_board.hpp"

namespace d5::detail {

/// Computations that messages slow, and that slow messages.
///
/// A rank's computation takes longer while messages from or to the rank are under way. All messages
/// take longer by the largest factor of such computations. Times are piecewise: what remains is
/// retimed whenever messages begin or end.
class SimulatedComputing final : public TimedChanges {
 public:
  SimulatedComputing(TimedChanges& others, int ranks, FiberScheduler& scheduler,
                     MessageBoard& board);

  /// Computes on the running fiber for `seconds` alone. One computation a rank.
  void compute(double seconds, const Slowdown& slowdown);

  bool advance(double limit) override;

 private:
  struct Work {
    FiberScheduler::Strand* strand = nullptr;  ///< null: the rank does not compute
    Slowdown slowdown = {};
    bool overlaps = false;
    double left = 0;  ///< alone, at time `since`
    double since = 0;
    double end = 0;
    [[nodiscard]] double factor() const { return overlaps ? slowdown.kernel : 1; }
  };

  void enter(int rank, double now);
  void leave(int rank);
  void slow_messages(double now) {
    board_.slow_down(factors_.empty() ? 1 : *factors_.rbegin(), now);
  }
  void take_traffic(int rank, double now);

  TimedChanges& others_;
  FiberScheduler& scheduler_;
  MessageBoard& board_;
  std::vector<Work> works_;  // by rank
  std::set<std::pair<double, int>> ends_;
  std::multiset<double> factors_;  // on messages
};

}  // namespace d5::detail
