// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace d5::detail {

/// What a program reads and writes first; -1: nothing.
struct SpawnedStreams {
  int input = -1, output = -1, error = -1;
};

/// Begins a program in a group of processes of its own, without a fork of this one (which gRPC
/// would not survive). It has this process's environment, without its token, with `more` (each
/// NAME=VALUE), and ends with the thread that began it. Throws: IoError where it cannot be started.
[[nodiscard]] pid_t spawn(std::vector<std::string> command, const SpawnedStreams& streams,
                          std::vector<std::string> more = {});

}  // namespace d5::detail
