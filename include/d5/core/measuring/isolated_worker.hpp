// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "d5/core/measuring/isolation.hpp"
#include "d5/core/measuring/work_list.hpp"

namespace d5 {

/// A worker process that runs pieces of work one after another, and keeps opened resources between
/// them. The first piece starts the process. A piece that ends it or exceeds the time limit is
/// recorded as failed, with the reason, and the next piece starts a new process.
///
///     IsolatedWorker worker({.most_seconds = 600}, pieces);
///     for (std::size_t i = 0; i < pieces.size(); ++i) add(worker.run(i));
///
/// The process is a fork of the present one, with the limits that `isolated` describes.
/// Thread safety: one call at a time, always on the same thread: its end may end the process.
class IsolatedWorker {
 public:
  /// Throws: ValueError without a time limit.
  IsolatedWorker(const Isolation& isolation, std::vector<WorkPiece> pieces);
  ~IsolatedWorker();
  IsolatedWorker(const IsolatedWorker&) = delete;
  IsolatedWorker& operator=(const IsolatedWorker&) = delete;

  /// The records of a piece, or its `record`, failed. `sampled` is called in this process whenever
  /// the piece calls it in the worker. Throws: Interrupted; IoError if no process can be started.
  [[nodiscard]] std::vector<Measurement> run(std::size_t number,
                                             const std::function<void()>& sampled = {});

 private:
  class Process;
  Isolation isolation_;
  std::vector<WorkPiece> pieces_;
  std::unique_ptr<Process> process_;
};

}  // namespace d5
