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

/// The threads of this process that progress calls through shared memory during computation. Each
/// is created on first use, and binds itself again when the resources of its calls change. They are
/// never destroyed, because they may be waiting when the process ends.
///
/// Thread safety: all functions.
class CommunicationCrew {
 public:
  static CommunicationCrew& instance();
  /// Thread i of the crew polls `parts[i]` until it is done. Nothing else may poll `parts`.
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
