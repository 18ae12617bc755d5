// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/process/owned_process.hpp"
#include "serving/agent/child_starter.hpp"

namespace d5::detail {

/// A program, or a child of a starter, in a process group of its own. The group ends with this
/// object, and the process ends with the thread that started it.
class ChildProcess {
 public:
  struct Limits {
    std::size_t most_bytes = 0;  ///< address-space limit; 0: none
  };
  /// Starts it with this process's environment, without the token, by `starter` if there is one.
  /// Throws: IoError if it cannot be started.
  ChildProcess(const std::vector<std::string>& command, const Limits& limits,
               const std::shared_ptr<ChildStarter>& starter = nullptr);

  /// Descriptors for poll: its end, and its output.
  [[nodiscard]] std::array<int, 3> descriptors() const {
    return {process_->descriptor(), output_.from.get(), error_.from.get()};
  }

  /// Reads pending output without waiting. Returns whether there was any.
  bool listen();
  /// The last complete line on stderr, and its output, of bounded size.
  [[nodiscard]] const std::string& last_error() const { return error_.last_line; }
  [[nodiscard]] const std::string& all_output() const { return output_.all; }

  /// Whether it has ended, and how: `exit_status`, or `reason` for a signal.
  bool has_ended();
  [[nodiscard]] int exit_status() const { return process_->how().status; }  ///< -1: by a signal
  [[nodiscard]] std::string reason() const { return process_->how().words(); }
  void kill() { process_->kill(); }

 private:
  struct Pipe {
    OwnedDescriptor from;
    std::string all, part, last_line;
    bool take();
  };
  Pipe output_, error_;
  std::optional<OwnedProcess> process_;
};

}  // namespace d5::detail
