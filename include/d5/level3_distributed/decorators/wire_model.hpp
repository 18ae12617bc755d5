// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5 {

/// Latency and bandwidth of a modelled network with one port per rank.
struct WireOptions {
  std::chrono::nanoseconds latency{0};
  double bytes_per_second = 0;
};

/// Parses "50us,1GB/s" or "50us,10Gbit/s" (powers of 1000; KiB etc. powers of 1024).
/// Throws: ValueError for other text, a negative latency, or no bandwidth.
[[nodiscard]] WireOptions wire_of(const std::string& words);
/// The inverse of `wire_of`: "50us,1GB/s".
[[nodiscard]] std::string to_string(const WireOptions& wire);

/// Emulates a slower network between ranks of one machine by delaying their messages.
///
/// Each rank has one port, and its messages leave the port one after the other. A message of b
/// bytes occupies the port for b / bandwidth and arrives one latency later. A send is done when its
/// message has left. A receive is done at the earliest when its message has arrived, by a time
/// stamp sent beside it: ranks share the machine's monotonic clock. Arriving messages do not delay
/// each other. A group shares the ports of its parent communicator.
///
/// The messages inside a library's collective are not visible. It ends at the earliest its lower
/// bound after the last rank began it (L latency, W bandwidth, n ranks): all_reduce 2 (n - 1) (L +
/// b / (n W)); reduce_scatter, all_gather, all_to_all, gather and scatter (n - 1) L + s / W with s
/// the most bytes that one rank sends or receives; broadcast ceil(log2 n) L + b / W; barrier
/// ceil(log2 n) L. Algorithms over send and receive, such as `ring`, are modelled message by
/// message.
///
/// Waits spin, as MPI's do, if each rank of this machine has a core of its own; otherwise they
/// sleep. The real cost of messages comes on top, so it must be small beside the model.
///
///     auto slow = std::make_shared<WireModel>(world(), wire_of("50us,1GB/s"));
class WireModel final : public CommunicatorDecorator {
 public:
  /// A collective.
  WireModel(std::shared_ptr<Communicator> inner, const WireOptions& options);
  ~WireModel() override;
  [[nodiscard]] std::string medium() const override;
  /// False: each rank stands for a machine of its own.
  [[nodiscard]] bool shares_nodes() const override { return false; }
  [[nodiscard]] int ranks_per_node() const override { return 1; }

 protected:
  [[nodiscard]] std::unique_ptr<Request> do_start(const CommunicationCall& call) override;
  void do_run(const CommunicationCall& call) override { do_start(call)->wait(); }
  [[nodiscard]] std::shared_ptr<Communicator> decorate(
      std::shared_ptr<Communicator> group) override;

 private:
  class Port;
  WireModel(std::shared_ptr<Communicator> inner, const WireOptions& options,
            std::shared_ptr<Port> port);
  [[nodiscard]] std::unique_ptr<Request> start_delayed_send(const CommunicationCall& call);
  [[nodiscard]] std::unique_ptr<Request> start_delayed_receive(const CommunicationCall& call);
  [[nodiscard]] std::unique_ptr<Request> start_delayed_collective(const CommunicationCall& call);
  /// Modelled cost of a library's collective: time that its bytes occupy the port, and its
  /// latencies.
  [[nodiscard]] std::int64_t busy_ns(const CommunicationCall& call) const;
  [[nodiscard]] std::int64_t latency_ns(const CommunicationCall& call) const;
  [[nodiscard]] std::int64_t bytes_ns(std::int64_t bytes) const;

  WireOptions options_;
  std::shared_ptr<Port> port_;
  std::shared_ptr<Communicator> stamps_;
};

}  // namespace d5
