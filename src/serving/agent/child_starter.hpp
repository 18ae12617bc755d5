// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/process/owned_process.hpp"

namespace d5::detail {

/// A process that runs `start_children`: it has d5 loaded, one thread and no framework. A child is
/// a fork of it, in a process group of its own, and needs no program start. Data that a child's
/// evaluation names is read before the fork, so that later children of its kind find it. It ends
/// with this object, and its children with it.
///
/// Thread safety: one call at a time.
class ChildStarter {
 public:
  /// Throws: IoError if it cannot be started.
  explicit ChildStarter(const std::vector<std::string>& command);

  /// Starts a child without input that writes to these streams. Throws: IoError if the starter has
  /// ended.
  [[nodiscard]] pid_t start(const std::vector<std::string>& words, int output, int error);
  /// Waits for a child's end, and returns its status as in waitpid.
  [[nodiscard]] int end_of(pid_t child);

 private:
  ChildStarter(const std::vector<std::string>& command, DescriptorPair sockets);

  OwnedProcess process_;
  OwnedDescriptor socket_;
};

}  // namespace d5::detail
