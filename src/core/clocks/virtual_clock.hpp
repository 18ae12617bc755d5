// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// Virtual clock of a simulating thread, in seconds. Unless null, `now_seconds` and `Trace::now_ns`
/// on this thread call it instead of reading the machine's clock.
using VirtualClock = double (*)();
[[nodiscard]] VirtualClock& virtual_clock_of_thread();

}  // namespace d5::detail
