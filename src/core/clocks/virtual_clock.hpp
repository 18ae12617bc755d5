// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// Where a thread simulates, its time is another: asked for it, in seconds, by `now_seconds` and
/// `Trace::now_ns` on this thread in place of the machine's clock, unless null.
using VirtualClock = double (*)();
[[nodiscard]] VirtualClock& virtual_clock_of_thread();

}  // namespace d5::detail
