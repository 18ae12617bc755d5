// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5 {

/// What goes wrong, at whom and when.
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

/// Of "kill:rank=1,step=100", "delay:rank=0,step=3,seconds=0.5".
/// Throws: ValueError for other words, a fault without a rank or a step, a step below 1, a time of
/// what takes none.
[[nodiscard]] FaultOptions fault_of(const std::string& words);
/// What `fault_of` reads back.
[[nodiscard]] std::string to_string(const FaultOptions& fault);

/// Does something wrong once, at the first call of one rank at or after a step of training, or at a
/// call by its number: to see what happens then.
class FaultInjection final : public CommunicatorDecorator {
 public:
  /// Throws: ValueError for a rank that is none of the group.
  FaultInjection(std::shared_ptr<Communicator> inner, const FaultOptions& options);
  /// What goes wrong, goes wrong in calls.
  [[nodiscard]] bool shares_nodes() const override { return false; }

 protected:
  [[nodiscard]] std::unique_ptr<Request> do_start(const CommunicationCall& call) override;
  void do_run(const CommunicationCall& call) override;
  [[nodiscard]] std::shared_ptr<Communicator> decorate(
      std::shared_ptr<Communicator> group) override;

 private:
  struct Plan;
  FaultInjection(std::shared_ptr<Communicator> inner, std::shared_ptr<Plan> plan);
  void before(const CommunicationCall& call);
  std::shared_ptr<Plan> plan_;  // groups have the same
};

}  // namespace d5
