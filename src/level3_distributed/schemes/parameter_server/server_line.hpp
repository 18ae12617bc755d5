// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// Kinds of messages between workers and servers.
enum class ServerWord {
  failed,       ///< the sender has failed; both directions
  step,         ///< make a step
  run,          ///< compute gradients of this batch
  loss,         ///< compute the loss of this batch
  loss_of_run,  ///< send the loss of the last run
  done,         ///< the step is over
  gradient,     ///< a gradient follows
  update,       ///< an update follows
  pull,         ///< send the newest values
  test,         ///< send the values for test runs
  values,       ///< values follow
  tested,
  state,
  restore,
  leave
};

/// A message head with numbers; its data follows as a separate message.
struct ServerMessage {
  static constexpr std::size_t kNumbers = 5;
  static constexpr std::int64_t kBytes = (kNumbers + 1) * sizeof(double);
  int from = kAnyRank;
  ServerWord word = ServerWord::failed;
  std::array<double, kNumbers> numbers = {};
};

/// A rank's messages to and from servers. Sends are in flight until `settle`; their memory must not
/// change until then. `hear` throws the error of a failed partner.
class ServerLine {
 public:
  /// A collective: all ranks make one in the same order.
  explicit ServerLine(std::shared_ptr<Communicator> ranks)
      : ranks_(std::move(ranks)), tag_(ranks_->own_tag()) {}

  void say(int to, ServerWord word, std::initializer_list<double> numbers = {});
  void send(const Tensor& data, int to);
  void settle();
  [[nodiscard]] ServerMessage hear(int from = kAnyRank);
  void receive(Tensor data, int from);  ///< `data` may be on a device

  void send_map(const ValueMap& map, int to);
  [[nodiscard]] ValueMap receive_map(int from);
  void send_numbers(const std::vector<std::int64_t>& numbers, int to);
  [[nodiscard]] std::vector<std::int64_t> receive_numbers(int from);

  void tell_failure(int to, const std::exception& error);
  /// Whether another rank's error was received.
  [[nodiscard]] bool heard_failure() const { return heard_failure_; }

 private:
  [[noreturn]] void throw_failure(const ServerMessage& message);

  std::shared_ptr<Communicator> ranks_;
  int tag_;
  bool heard_failure_ = false;
  struct Sent {
    Tensor data;
    std::unique_ptr<Request> request;
  };
  std::vector<Sent> under_way_;
};

}  // namespace d5::detail
