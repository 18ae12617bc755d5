// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/options.hpp"
#include "d5/serving/client/serving_client.hpp"

namespace d5::app {

/// Tells how far a job is until it is over, prints what it measured as a run of this machine is
/// printed, writes it to `--out`, and returns the exit status that it would have had here.
int follow_evaluation(ServingClient& client, const std::string& job, const OutputOptions& output);

/// Asks for an evaluation, and follows it. Ctrl-C leaves it to the server.
int run_remotely(ServingClient& client, const std::string& manifest, const std::string& on,
                 const OutputOptions& output);

}  // namespace d5::app
