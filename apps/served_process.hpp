// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace d5::app {

/// First of all that the program does: ends it with the server or agent that started it, and makes
/// the predictor `remote` known.
void prepare_serving();

/// Runs what a server or an agent starts this program as, by words that are no command's. Returns
/// the exit status; nothing where the words are others.
[[nodiscard]] std::optional<int> run_served_process(int argc, char** argv);

}  // namespace d5::app
