// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/options.hpp"
#include "d5/serving/client/serving_client.hpp"

namespace d5::app {

/// Reports a job's progress until it is over, prints its results like those of a local run, writes
/// them to `--out`, and returns the exit status that a local run would have had.
int follow_evaluation(ServingClient& client, const std::string& job, const OutputOptions& output);

/// Submits an evaluation and follows it. Ctrl-C leaves it running on the server.
int run_remotely(ServingClient& client, const std::string& manifest, const std::string& on,
                 const OutputOptions& output);

}  // namespace d5::app
