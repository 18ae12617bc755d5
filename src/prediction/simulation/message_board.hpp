// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/tensor/tensor.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "prediction/simulation/fiber_scheduler.hpp"
#include "prediction/simulation/folded_ranks.hpp"

namespace d5::detail {

/// A send or a receive of a simulated rank. Ranks are the world's.
struct MessageEnd {
  int rank = 0;
  int peer = 0;     ///< may be `kAnyRank` for a receive
  int context = 0;  ///< only messages of the same group match
  int tag = 0;
  bool sends = false;
  Tensor data = {};

  bool complete = false;
  double time = 0;                           ///< completion time
  int from = 0;                              ///< sender of a complete receive
  std::int64_t bytes = 0;                    ///< size of a complete receive
  std::exception_ptr error = {};             ///< failure, if any
  FiberScheduler::Strand* waiter = nullptr;  ///< woken on completion
  bool told = false;                         ///< its rank has observed the completion
};

/// The clock of the network, which is slower than virtual time while computations slow messages.
class NetworkClock {
 public:
  /// Sets the factor on the time of messages from `now` on.
  void slow_down(double factor, double now) {
    if (factor == factor_) return;
    network_begin_ = network_time(now);
    begin_ = now;
    factor_ = factor;
  }
  [[nodiscard]] double network_time(double time) const {
    return network_begin_ + (time - begin_) / factor_;
  }
  [[nodiscard]] double time(double network_time) const {
    return begin_ + (network_time - network_begin_) * factor_;
  }

 private:
  double begin_ = 0, network_begin_ = 0, factor_ = 1;  // times of the last change
};

/// Matches the sends and receives of all simulated ranks in order for each pair of ranks, like MPI,
/// and passes messages to the network.
class MessageBoard final : public TimedChanges {
 public:
  MessageBoard(FiberScheduler& scheduler, std::shared_ptr<SimulatedNetwork> network,
               const FoldedRanks& ranks, std::int64_t eager_bytes);

  /// Starts a send at the time of the running fiber, which must have caught up.
  void start_send(const std::shared_ptr<MessageEnd>& end);
  void start_receive(const std::shared_ptr<MessageEnd>& end);

  bool advance(double limit) override;

  /// Waits until something of this fiber's rank has completed since the last such wait.
  void wait_for_change();
  /// Marks all changes so far as seen by this fiber.
  void has_seen_changes();
  /// Notes the completion of something other than a message on `rank`.
  void note_change(int rank, double time);

  /// Called with a rank and the time when its first message comes under way, or its last one ends.
  void on_traffic(std::function<void(int rank, double time)> told) { told_ = std::move(told); }
  /// Whether messages from or to the rank are under way in the network.
  [[nodiscard]] bool has_traffic(int rank) const {
    return ranks_[static_cast<std::size_t>(rank)].under_way > 0;
  }
  /// Sets the factor on the time of messages under way, from `now` on.
  void slow_down(double factor, double now) { clock_.slow_down(factor, now); }

  [[nodiscard]] std::int64_t messages() const { return messages_; }
  [[nodiscard]] std::int64_t largest_bytes() const { return largest_bytes_; }
  /// Whether sends or receives are left without the other end.
  [[nodiscard]] bool has_unmet() const;
  /// The calls that `rank` waits for, with ranks of the world: "send of 12 bytes to rank 3, tag 0".
  [[nodiscard]] std::vector<std::string> outstanding(int rank) const;

 private:
  struct Flight {
    std::shared_ptr<MessageEnd> send, receive;
    Tensor kept;  ///< data of an eager message without a posted receive
    bool started = false, arrived = false;
    double arrived_at = 0;
  };
  struct Rank {
    std::vector<std::shared_ptr<MessageEnd>> receives;  ///< posted receives without a message
    std::vector<std::int64_t> flights;                  ///< messages to it without a receive
    int under_way = 0;                                  ///< messages from or to it in the network
    std::uint64_t changes = 1;
    std::vector<FiberScheduler::Strand*> waiting;  ///< strands that wait for a change
  };

  [[nodiscard]] bool meet(const MessageEnd& send, const MessageEnd& receive) const;
  std::int64_t new_flight(const std::shared_ptr<MessageEnd>& send);
  void start(std::int64_t id);
  /// Delivers the data, or sets the receive's error; completion is reported later.
  void deliver(Flight& flight);
  void complete(MessageEnd& end, double time);
  void complete_receive(std::int64_t id, double time);
  void let_go(std::int64_t id);
  /// Counts a message that comes under way, or with -1 one that ends.
  void count(const MessageEnd& send, int more, double time);

  FiberScheduler& scheduler_;
  std::shared_ptr<SimulatedNetwork> network_;
  FoldedRanks folded_;
  std::int64_t eager_bytes_;
  std::vector<Rank> ranks_;
  std::vector<Flight> flights_;
  std::vector<std::int64_t> free_flights_;
  std::vector<SimulatedNetwork::Change> changes_;
  NetworkClock clock_;
  double reported_ = 0;  ///< the network's time of the last change
  std::function<void(int, double)> told_;
  std::int64_t messages_ = 0, largest_bytes_ = 0;
};

}  // namespace d5::detail
