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

/// A program, or what a starter runs, in a group of processes of its own. It and all that it begins
/// end with this object, and it ends with the thread that started it.
class ChildProcess {
 public:
  struct Limits {
    std::size_t most_bytes = 0;  ///< of address space; 0: none
  };
  /// It has this process's environment, without its token. `starter` starts it where there is one.
  /// Throws: IoError where it cannot be started.
  ChildProcess(const std::vector<std::string>& command, const Limits& limits,
               const std::shared_ptr<ChildStarter>& starter = nullptr);

  /// What can be waited for by poll: its end, and what it says.
  [[nodiscard]] std::array<int, 3> descriptors() const {
    return {process_->descriptor(), output_.from.get(), error_.from.get()};
  }

  /// Takes in what it has said; does not wait. True where there was something.
  bool listen();
  /// The last line that it has said whole on stderr, and its output, of a bounded memory.
  [[nodiscard]] const std::string& last_error() const { return error_.last_line; }
  [[nodiscard]] const std::string& all_output() const { return output_.all; }

  /// Whether it has ended, and how: `exit_status` or, where a signal did it, `reason`.
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
