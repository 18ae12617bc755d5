// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// The threads of this process that move calls through memory on, whoever computes meanwhile. Each
/// is made once, when it is first needed, and binds itself where the resources of what it moves on
/// are others than before. They are never destroyed: they may wait when the process ends.
///
/// Thread safety: all functions.
class CommunicationCrew {
 public:
  static CommunicationCrew& instance();
  /// Thread i of the crew asks `parts[i]` until it is done. `parts` are asked by nobody else.
  [[nodiscard]] std::unique_ptr<Request> run(std::vector<std::unique_ptr<Request>> parts,
                                             std::shared_ptr<const CallOptions> options,
                                             UsedResources used);

 private:
  struct Task;
  class Thread;
  class CrewRequest;
  Thread& thread(std::size_t index);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace d5::detail
