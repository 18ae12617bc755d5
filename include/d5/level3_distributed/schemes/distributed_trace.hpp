// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "d5/core/trace/timeline.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// What makes times of this rank's clock times of rank 0's. Ranks of one machine share the clock;
/// the others exchange a few messages with rank 0, and take the quickest exchange, in whose middle
/// the two clocks were read. A collective: call it before the trace is started.
[[nodiscard]] ClockOffset clock_offset(Communicator& ranks);

/// As `clock_offset`, always by messages; `clock` tells this rank's nanoseconds.
/// Source: Cristian, "Probabilistic clock synchronization" (Distributed Computing 1989).
[[nodiscard]] ClockOffset estimate_clock_offset(
    Communicator& ranks, const std::function<std::int64_t()>& clock = Trace::now_ns);

/// An offset, and what this rank's clock shows just after that was found: before, it may wait long
/// for the others.
struct ClockSample {
  ClockOffset offset;
  std::int64_t at_ns;
};
/// Offset and drift: the line through a sample at the begin and one at the end. Between them it is
/// as certain as the worse of both, as far as the clocks' rates stay what they are.
[[nodiscard]] ClockOffset clock_line(const ClockSample& begin, const ClockSample& end);

/// All ranks' timelines as one on rank 0's clock, at rank 0; the others get an empty one. `clock`
/// is this rank's `clock_offset`, or better the `clock_line` of two. A collective.
///
///     const ClockSample begin{clock_offset(*world()), Trace::now_ns()};
///     Trace::start({.rank = world()->rank()});
///     train();
///     Trace::stop();
///     const ClockSample end{clock_offset(*world()), Trace::now_ns()};
///     const Timeline all =
///         gather_timeline(*world(), Trace::timeline(), clock_line(begin, end));
[[nodiscard]] Timeline gather_timeline(Communicator& ranks, const Timeline& mine,
                                       const ClockOffset& clock);

}  // namespace d5
