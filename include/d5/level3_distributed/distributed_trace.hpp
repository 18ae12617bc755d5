// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "d5/core/timeline.hpp"
#include "d5/core/trace.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5 {

/// What makes times of this rank's clock times of rank 0's. Ranks of one machine share the clock;
/// the others exchange a few messages with rank 0, and take the quickest exchange, in whose middle
/// the two clocks were read. A collective: call it before the trace is started.
[[nodiscard]] ClockOffset clock_offset(Communicator& ranks);

/// As `clock_offset`, always by messages; `clock` tells this rank's nanoseconds.
/// Source: Cristian, "Probabilistic clock synchronization" (Distributed Computing 1989).
[[nodiscard]] ClockOffset estimate_clock_offset(
    Communicator& ranks, const std::function<std::int64_t()>& clock = Trace::now_ns);

/// All ranks' timelines as one on rank 0's clock, at rank 0; the others get an empty one. `clock`
/// is this rank's `clock_offset`. A collective.
///
///     const ClockOffset clock = clock_offset(*world());
///     Trace::start({.rank = world()->rank()});
///     train();
///     Trace::stop();
///     const Timeline all = gather_timeline(*world(), Trace::timeline(), clock);
[[nodiscard]] Timeline gather_timeline(Communicator& ranks, const Timeline& mine,
                                       const ClockOffset& clock);

}  // namespace d5
