// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

struct TracedRunOptions {
  std::string path = {};      ///< of the timeline (`write_timeline`); empty: nothing is traced
  std::string who = "trace";  ///< begins the messages of errors
  std::function<void(const std::string&)> say = {};  ///< gets a line where something is lost
  /// Asked when `run` has ended: why it did so early, empty if it did not. The file says so
  /// (`Timeline::cut_off`).
  std::function<std::string()> cut_off = {};
};

/// Runs `run`, and writes what all ranks did meanwhile to one timeline, at rank 0. Of a run that
/// returns all ranks have left together; of one that throws, rank 0 writes what it did itself. A
/// collective.
///
///     run_traced({.path = "run.trace.json"}, world(), [&] { session.run(); });
///
/// Throws: IoError on every rank, before anything runs, if the file cannot be written; what `run`
/// throws.
void run_traced(const TracedRunOptions& options, const std::shared_ptr<Communicator>& ranks,
                const std::function<void()>& run);

}  // namespace d5
