// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "apps/ctrl_c.hpp"
#include "d5/serving/client/serving_client.hpp"

namespace d5::app {

inline constexpr const char* kUsualServer = "http://127.0.0.1:8500";

/// Adds `--server`: the server to ask.
inline void add_server_option(CLI::App& command, std::string& address) {
  command
      .add_option("--server", address,
                  std::string("address of 'd5 serve'; by default $D5_SERVER, or ") + kUsualServer +
                      "; its token is $D5_TOKEN")
      ->envname("D5_SERVER")
      ->option_text("ADDRESS");
}

/// Adds JOB: a job of the server.
inline void add_job_argument(CLI::App& command, std::string& job) {
  command.add_option("JOB", job, "id, or its first 6 digits or more ('d5 job list')")->required();
}

[[nodiscard]] inline ServingClient client_of(const std::string& address) {
  return ServingClient(address.empty() ? kUsualServer : address, {.interrupt = ctrl_c()});
}

}  // namespace d5::app
