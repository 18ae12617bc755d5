// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

struct TracedRunOptions {
  std::string path = {};      ///< output file (`write_timeline`); empty: no tracing
  std::string who = "trace";  ///< prefix of error messages
  std::function<void(const std::string&)> say = {};  ///< receives a line if events are lost
  /// Called when `run` has ended: the reason of an early end, or empty. It is written to the file
  /// (`Timeline::cut_off`).
  std::function<std::string()> cut_off = {};
};

/// Calls `run`, and writes one timeline of all ranks at rank 0. If `run` throws, rank 0 writes only
/// its own timeline. A collective.
///
///     run_traced({.path = "run.trace.json"}, world(), [&] { session.run(); });
///
/// Throws: IoError on every rank, before `run`, if the file cannot be written; exceptions of `run`.
void run_traced(const TracedRunOptions& options, const std::shared_ptr<Communicator>& ranks,
                const std::function<void()>& run);

}  // namespace d5
