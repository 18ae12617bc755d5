// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluation/evaluation_on_server.hpp"

#include "d5/core/errors/error.hpp"

namespace d5::app {

std::string server_example() { return ""; }

void add_server_choice(CLI::App& /*command*/, ServerChoice& /*choice*/) {}

int run_on_server(const std::string& /*manifest*/, const ServerChoice& /*choice*/,
                  const OutputOptions& /*output*/) {
  throw Unsupported("this d5 was built without serving");
}

}  // namespace d5::app
