// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "d5/core/trace/timeline.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// The offset of this rank's clock to rank 0's. Ranks of one machine share the clock. The others
/// exchange a few messages with rank 0 and use the one with the shortest round trip, assuming that
/// rank 0 read its clock in the middle. A collective: call it before the trace is started.
[[nodiscard]] ClockOffset clock_offset(Communicator& ranks);

/// Like `clock_offset`, but always by messages; `clock` returns this rank's nanoseconds.
/// Source: Cristian, "Probabilistic clock synchronization" (Distributed Computing 1989).
[[nodiscard]] ClockOffset estimate_clock_offset(
    Communicator& ranks, const std::function<std::int64_t()>& clock = Trace::now_ns);

/// An offset, and this rank's clock just after the estimation (before it, a rank may wait long for
/// the others).
struct ClockSample {
  ClockOffset offset;
  std::int64_t at_ns;
};
/// Offset and drift: the line through a sample at the start and one at the end. Between them its
/// uncertainty is that of the worse sample, if the clocks' rates are constant.
[[nodiscard]] ClockOffset clock_line(const ClockSample& begin, const ClockSample& end);

/// Merges all ranks' timelines into one on rank 0's clock; returns it at rank 0, and an empty one
/// elsewhere. `clock` is this rank's `clock_offset`, or better the `clock_line` of two. A
/// collective.
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
