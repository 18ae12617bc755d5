// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {

/// Limits of an isolated process. By default there is no isolation: work runs in the present
/// process.
struct Isolation {
  double most_seconds = 0;     ///< time limit; 0: no isolation
  std::size_t most_bytes = 0;  ///< address space beyond the present process's; 0: `memory_budget()`
  Interrupt interrupt = {};    ///< also ends the process
};

/// Runs `work` in a process of its own and returns its records. If the process dies by a signal,
/// exits, exceeds the time or the memory, returns `record`, failed, with that as the reason.
///
///     isolated({.most_seconds = 10}, record, [&] { return test_gradient(one, "reference"); });
///
/// The process is a fork of the present one, with the calling thread only. d5's own threads restart
/// there; threads of other libraries do not, so call it before they start. Devices cannot be used
/// there.
/// Throws: Interrupted; IoError if no process can be started; without isolation, what `work`
/// throws.
[[nodiscard]] std::vector<Measurement> isolated(
    const Isolation& isolation, const Measurement& record,
    const std::function<std::vector<Measurement>()>& work);

}  // namespace d5
