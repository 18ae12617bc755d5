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

/// A program to start beside this one. It inherits three streams and no other descriptor, and finds
/// every signal at its default.
struct Program {
  static constexpr int kNothing = -1;   ///< as a stream: /dev/null
  static constexpr int kAsOutput = -2;  ///< as `error`: where `output` goes
  enum class Group {
    own,      ///< a group of processes
    session,  ///< a session: it lives on when this process's terminal is closed
  };

  std::vector<std::string> words;  ///< the first is a path, or a name that $PATH has
  /// Changes of this process's environment: NAME=VALUE sets a variable, NAME removes one.
  std::vector<std::string> variables = {};
  int input = kNothing, output = kNothing, error = kNothing;  ///< descriptors
  Group group = Group::own;
  /// Signal that it gets when the thread that starts it ends; 0: it lives on. That thread lives as
  /// long as the program is wanted.
  int ends_with_parent = 0;
  const sigset_t* blocked = nullptr;  ///< signals that it blocks; null: none
};

/// A program that is not there; its name is in the message.
class NoProgram : public IoError {
  using IoError::IoError;
};

/// The file of a program: `name` itself where it is a path, else the first in $PATH.
[[nodiscard]] std::optional<std::string> find_program(std::string_view name);

/// Starts it without a fork of this process, which gRPC and CUDA would not survive.
/// Throws: NoProgram; IoError where it cannot be started.
[[nodiscard]] pid_t start(const Program& program);

}  // namespace d5::detail
