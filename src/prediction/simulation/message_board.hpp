// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/tensor/tensor.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "prediction/simulation/fiber_scheduler.hpp"

namespace d5::detail {

/// A send or a receive of a simulated rank. Ranks are the world's.
struct MessageEnd {
  int rank = 0;
  int peer = 0;     ///< of a receive it may be `kAnyRank`
  int context = 0;  ///< messages of one group meet
  int tag = 0;
  bool sends = false;
  Tensor data = {};

  bool complete = false;
  double time = 0;                           ///< when it was complete
  int from = 0;                              ///< of a complete receive
  std::int64_t bytes = 0;                    ///< of a complete receive
  std::exception_ptr error = {};             ///< that it ended with
  FiberScheduler::Strand* waiter = nullptr;  ///< woken when it is complete
  bool told = false;                         ///< its rank has seen that it is complete
};

/// Where the sends and receives of all simulated ranks meet, in the order of each pair of ranks, as
/// MPI's do, and are given to the network.
class MessageBoard final : public TimedChanges {
 public:
  MessageBoard(FiberScheduler& scheduler, std::shared_ptr<SimulatedNetwork> network, int ranks,
               std::int64_t eager_bytes);

  /// At the time of the fiber that runs, which has caught up.
  void start_send(const std::shared_ptr<MessageEnd>& end);
  void start_receive(const std::shared_ptr<MessageEnd>& end);

  bool advance(double limit) override;

  /// Until something of this fiber's rank is complete since it waited so the last time.
  void wait_for_change();
  /// What has changed until now is no reason for this fiber to look again.
  void has_seen_changes();
  /// Something of `rank` besides messages is complete.
  void note_change(int rank, double time);

  [[nodiscard]] std::int64_t messages() const { return messages_; }
  [[nodiscard]] std::int64_t largest_bytes() const { return largest_bytes_; }
  /// What `rank` waits for: "send of 12 bytes to rank 3, tag 0", by the world's ranks.
  [[nodiscard]] std::vector<std::string> outstanding(int rank) const;

 private:
  struct Flight {
    std::shared_ptr<MessageEnd> send, receive;
    Tensor kept;  ///< of an eager message whose receive is not posted yet
    bool started = false, arrived = false;
    double arrived_at = 0;
  };
  struct Rank {
    std::vector<std::shared_ptr<MessageEnd>> receives;  ///< that no message was sent for
    std::vector<std::int64_t> flights;                  ///< to it, without a receive
    std::uint64_t changes = 1;
    std::vector<FiberScheduler::Strand*> waiting;  ///< until something changes
  };

  std::int64_t new_flight(const std::shared_ptr<MessageEnd>& send);
  void start(std::int64_t id);
  /// The data is where it belongs, though it is not told yet; or the receive's error is.
  void deliver(Flight& flight);
  void complete(MessageEnd& end, double time);
  void complete_receive(std::int64_t id, double time);
  void let_go(std::int64_t id);

  FiberScheduler& scheduler_;
  std::shared_ptr<SimulatedNetwork> network_;
  std::int64_t eager_bytes_;
  std::vector<Rank> ranks_;
  std::vector<Flight> flights_;
  std::vector<std::int64_t> free_flights_;
  std::vector<SimulatedNetwork::Change> changes_;
  std::int64_t messages_ = 0, largest_bytes_ = 0;
};

}  // namespace d5::detail
