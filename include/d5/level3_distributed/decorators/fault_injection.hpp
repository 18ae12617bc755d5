// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5 {

/// A fault: its kind, rank and time.
struct FaultOptions {
  enum class Kind {
    kill,   ///< SIGKILL
    hang,   ///< sleeps for ever
    delay,  ///< sleeps for `duration`
    nan     ///< a NaN in the data of the next all_reduce, or send, of floating-point numbers
  } kind = Kind::kill;
  enum class Counts { calls, training_steps };
  int rank = 0;
  std::int64_t step = 1;  ///< from 1
  std::chrono::nanoseconds duration = std::chrono::seconds(5);
  Counts counts = Counts::training_steps;  ///< what `step` counts
};

/// Parses "kill:rank=1,step=100" or "delay:rank=0,step=3,seconds=0.5".
/// Throws: ValueError for other text, a fault without a rank or a step, a step below 1, and seconds
/// for a kind that takes none.
[[nodiscard]] FaultOptions fault_of(const std::string& words);
/// The inverse of `fault_of`.
[[nodiscard]] std::string to_string(const FaultOptions& fault);

/// Injects one fault on one rank, to test the reaction of the job: at its first call in or after a
/// given training step, or at its call of a given number.
class FaultInjection final : public CommunicatorDecorator {
 public:
  /// Throws: ValueError for a rank outside the group.
  FaultInjection(std::shared_ptr<Communicator> inner, const FaultOptions& options);
  /// False: faults are injected into calls, which shared memory would bypass.
  [[nodiscard]] bool shares_nodes() const override { return false; }
  [[nodiscard]] int ranks_per_node() const override { return 1; }

 protected:
  [[nodiscard]] std::unique_ptr<Request> do_start(const CommunicationCall& call) override;
  void do_run(const CommunicationCall& call) override;
  [[nodiscard]] std::shared_ptr<Communicator> decorate(
      std::shared_ptr<Communicator> group) override;

 private:
  struct Plan;
  FaultInjection(std::shared_ptr<Communicator> inner, std::shared_ptr<Plan> plan);
  void before(const CommunicationCall& call);
  std::shared_ptr<Plan> plan_;  // shared with groups
};

}  // namespace d5
