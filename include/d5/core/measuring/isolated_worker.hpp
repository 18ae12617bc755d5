// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "d5/core/measuring/isolation.hpp"
#include "d5/core/measuring/work_list.hpp"

namespace d5 {

/// Pieces of work in one process of their own, where what one opened is there for the next. It is
/// begun by the first that runs; one that ends it, or exceeds the time, is failed with that as the
/// reason, and the next begins another.
///
///     IsolatedWorker worker({.most_seconds = 600}, pieces);
///     for (std::size_t i = 0; i < pieces.size(); ++i) add(worker.run(i));
///
/// The process is a fork of this one at that moment, as `isolated` says.
/// Thread safety: one call at a time, on the thread whose end may be the process's.
class IsolatedWorker {
 public:
  /// Throws: ValueError without a time.
  IsolatedWorker(const Isolation& isolation, std::vector<WorkPiece> pieces);
  ~IsolatedWorker();
  IsolatedWorker(const IsolatedWorker&) = delete;
  IsolatedWorker& operator=(const IsolatedWorker&) = delete;

  /// The records of a piece, or its `record`, failed. `sampled` is called here when the piece does
  /// there. Throws: Interrupted; IoError if there are no more processes.
  [[nodiscard]] std::vector<Measurement> run(std::size_t number,
                                             const std::function<void()>& sampled = {});

 private:
  class Process;
  Isolation isolation_;
  std::vector<WorkPiece> pieces_;
  std::unique_ptr<Process> process_;
};

}  // namespace d5
