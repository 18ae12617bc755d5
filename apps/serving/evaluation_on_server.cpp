// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluation/evaluation_on_server.hpp"

#include <CLI/CLI.hpp>

#include "apps/serving/remote_evaluation.hpp"
#include "apps/serving/server_options.hpp"

namespace d5::app {

std::string server_example() {
  return R"(
  d5 eval run efficientnet-lite0 --server http://127.0.0.1:8500 --on all
                                                on every suitable agent of a server)";
}

void add_server_choice(CLI::App& command, ServerChoice& choice) {
  command
      .add_option("--server", choice.server,
                  "'d5 serve' whose agents run the evaluation; its token is $D5_TOKEN")
      ->option_text("ADDRESS");
  command.add_option("--on", choice.on, "number of agents, with --server: one, all, or a number")
      ->option_text("N");
}

int run_on_server(const std::string& manifest, const ServerChoice& choice,
                  const OutputOptions& output) {
  ServingClient client = client_of(choice.server);
  return run_remotely(client, manifest, choice.on, output);
}

}  // namespace d5::app
