// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5::detail {

class SimulatedWorld;

/// A simulated rank's communicator whose algorithms a second strand of the rank moves on, with a
/// clock of its own, as a progress thread on a core of its own does.
class SimulatedProgress final : public CommunicatorDecorator {
 public:
  SimulatedProgress(std::shared_ptr<Communicator> inner, std::shared_ptr<SimulatedWorld> world);
  ~SimulatedProgress() override { stop(); }
  /// The strand ends when what is under way is done.
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
