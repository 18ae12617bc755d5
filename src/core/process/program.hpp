// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// A program to start. It inherits three streams and no other descriptor, with default signal
/// actions.
struct Program {
  static constexpr int kNothing = -1;   ///< value of a stream: /dev/null
  static constexpr int kAsOutput = -2;  ///< value of `error`: the same as `output`
  enum class Group {
    own,      ///< a process group
    session,  ///< a session: survives the end of this process's terminal
  };

  std::vector<std::string> words;  ///< the first is a path, or a name in $PATH
  /// Changes to the inherited environment: NAME=VALUE sets a variable, NAME removes one.
  std::vector<std::string> variables = {};
  int input = kNothing, output = kNothing, error = kNothing;  ///< descriptors
  Group group = Group::own;
  /// Signal sent to it when the starting thread ends; 0: none. That thread must live as long as the
  /// program is needed.
  int ends_with_parent = 0;
  const sigset_t* blocked = nullptr;  ///< blocked signals; null: none
};

/// A missing program, named in the message.
class NoProgram : public IoError {
  using IoError::IoError;
};

/// The file of a program: `name` itself if it is a path, else the first in $PATH.
[[nodiscard]] std::optional<std::string> find_program(std::string_view name);

/// Starts a program without forking this process, which gRPC and CUDA would not survive. Throws:
/// NoProgram; IoError if it cannot be started.
[[nodiscard]] pid_t start(const Program& program);

}  // namespace d5::detail
