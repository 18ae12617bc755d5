// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/process/owned_process.hpp"

namespace d5::detail {

/// A process that runs `start_children`: it has d5 loaded, one thread and no framework, so that a
/// child is a fork of it, in a group of processes of its own, and needs no start of a program. What
/// the evaluation of a child names is read before the fork, so that the next of its kind finds it.
/// It ends with this object, and its children with it.
///
/// Thread safety: one call at a time.
class ChildStarter {
 public:
  /// Throws: IoError where it cannot be started.
  explicit ChildStarter(const std::vector<std::string>& command);

  /// A child that reads nothing and writes there. Throws: IoError where there is none.
  [[nodiscard]] pid_t start(const std::vector<std::string>& words, int output, int error);
  /// Waits for a child's end, and tells how that was, as waitpid does.
  [[nodiscard]] int end_of(pid_t child);

 private:
  ChildStarter(const std::vector<std::string>& command, DescriptorPair sockets);

  OwnedProcess process_;
  OwnedDescriptor socket_;
};

}  // namespace d5::detail
