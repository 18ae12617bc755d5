// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace d5::app {

/// Prepares a process of a server or an agent: it ends when its parent ends, and knows the
/// predictor `remote`. Call first in `main`.
void prepare_serving();

/// Runs a server's or an agent's process, if the words are those that start one. Returns its exit
/// status; nullopt for other words.
[[nodiscard]] std::optional<int> run_served_process(int argc, char** argv);

}  // namespace d5::app
