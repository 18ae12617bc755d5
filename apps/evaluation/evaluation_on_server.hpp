// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/options.hpp"

namespace d5::app {

/// `--server` and `--on`: which server's agents run an evaluation.
struct ServerChoice {
  std::string server;  ///< empty: this machine runs it
  std::string on = "one";
};
/// Lines for the help of `eval run`, each behind a line's end.
[[nodiscard]] std::string server_example();
/// Adds both where serving was built.
void add_server_choice(CLI::App& command, ServerChoice& choice);
/// Asks the server for the evaluation of a manifest, as canonical JSON, and follows it to its end.
/// Returns the exit status that it would have had here.
int run_on_server(const std::string& manifest, const ServerChoice& choice,
                  const OutputOptions& output);

}  // namespace d5::app
