// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5 {

/// A network of ports: what a message costs.
struct WireOptions {
  std::chrono::nanoseconds latency{0};
  double bytes_per_second = 0;
};

/// Of "50us,1GB/s" or "50us,10Gbit/s" (powers of 1000; KiB and so on of 1024).
/// Throws: ValueError for other words, a latency below 0, no bandwidth.
[[nodiscard]] WireOptions wire_of(const std::string& words);
/// "50us,1GB/s": what `wire_of` reads back.
[[nodiscard]] std::string to_string(const WireOptions& wire);

/// Delays what ranks of one machine say to each other as a slower network would.
///
/// Each rank has one port, which its messages leave one after the other: of b bytes it is busy for
/// b / bandwidth, and the message is there a latency later. A send is done when its message has
/// left, a receive not before it is there, by a time stamp that travels beside it: ranks share the
/// machine's monotonic clock. What arrives does not wait for others that arrive. A group shares the
/// ports of the communicator that it is of.
///
/// A collective of the library, whose messages nobody sees, ends no earlier than its lower bound
/// after the last rank began it (L latency, W bandwidth, n ranks): all_reduce
/// 2 (n - 1) (L + b / (n W)); reduce_scatter, all_gather, all_to_all, gather and scatter
/// (n - 1) L + s / W with s the most that one rank sends or receives; broadcast
/// ceil(log2 n) L + b / W; barrier ceil(log2 n) L. Algorithms over send and receive, such as
/// `ring`, are modelled message by message.
///
/// Waits stay awake, as MPI's do, where the ranks of this machine have a core each; else they
/// sleep. What messages really cost comes on top: see that it is small beside the model.
///
///     auto slow = std::make_shared<WireModel>(world(), wire_of("50us,1GB/s"));
class WireModel final : public CommunicatorDecorator {
 public:
  /// A collective.
  WireModel(std::shared_ptr<Communicator> inner, const WireOptions& options);
  ~WireModel() override;
  [[nodiscard]] std::string medium() const override;
  /// Ranks stand for machines with a wire between them.
  [[nodiscard]] bool shares_nodes() const override { return false; }

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
  /// What a collective of the library costs: its bytes, during which the port is busy, and its
  /// latencies.
  [[nodiscard]] std::int64_t busy_ns(const CommunicationCall& call) const;
  [[nodiscard]] std::int64_t latency_ns(const CommunicationCall& call) const;
  [[nodiscard]] std::int64_t bytes_ns(std::int64_t bytes) const;

  WireOptions options_;
  std::shared_ptr<Port> port_;
  std::shared_ptr<Communicator> stamps_;
};

}  // namespace d5
