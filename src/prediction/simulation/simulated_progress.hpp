// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5::detail {

class SimulatedWorld;

/// A simulated rank's communicator with asynchronous progress: a second strand with its own clock
/// progresses algorithms, like a progress thread on its own core.
class SimulatedProgress final : public CommunicatorDecorator {
 public:
  SimulatedProgress(std::shared_ptr<Communicator> inner, std::shared_ptr<SimulatedWorld> world);
  ~SimulatedProgress() override { stop(); }
  /// Ends the strand when all schedules in flight are done.
  void stop();
  [[nodiscard]] std::string medium() const override {
    return inner().medium() + ", moved on by a thread";
  }

 protected:
  [[nodiscard]] std::shared_ptr<Communicator> decorate(
      std::shared_ptr<Communicator> group) override;

 private:
  struct Shared;
  class Group;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Request> never_alone_;
};

}  // namespace d5::detail
