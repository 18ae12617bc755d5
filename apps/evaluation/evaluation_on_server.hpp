// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/options.hpp"

namespace d5::app {

/// `--server` and `--on`: the server and the number of its agents that run an evaluation.
struct ServerChoice {
  std::string server;  ///< empty: this machine runs it
  std::string on = "one";
};
/// Example lines for the help of `eval run`, each after a line break.
[[nodiscard]] std::string server_example();
/// Adds both options if serving was built.
void add_server_choice(CLI::App& command, ServerChoice& choice);
/// Submits the evaluation of a manifest, as canonical JSON, to the server and follows it to its
/// end. Returns the exit status that a local run would have had.
int run_on_server(const std::string& manifest, const ServerChoice& choice,
                  const OutputOptions& output);

}  // namespace d5::app
