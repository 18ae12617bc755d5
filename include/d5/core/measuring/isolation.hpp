// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {

/// What a process of its own may take. By default there is none: work runs in this one.
struct Isolation {
  double most_seconds = 0;     ///< then it is ended; 0: no process of its own
  std::size_t most_bytes = 0;  ///< of address space beyond this process's; 0: `memory_budget()`
  Interrupt interrupt = {};    ///< ends it, too
};

/// The records of `work`, run in a process of its own: whatever happens there, a signal, an exit,
/// an endless loop, memory without end, is `record`, failed, with its name as the reason.
///
///     isolated({.most_seconds = 10}, record, [&] { return test_gradient(one, "reference"); });
///
/// The process is a fork of this one, with the calling thread alone. d5's own threads start anew
/// there; those of other libraries do not: call it before they run. A device has no meaning in it.
/// Throws: Interrupted; IoError if there are no more processes; without isolation what `work`
/// throws.
[[nodiscard]] std::vector<Measurement> isolated(
    const Isolation& isolation, const Measurement& record,
    const std::function<std::vector<Measurement>()>& work);

}  // namespace d5
