// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// Pins anew after the number of threads changed; nothing if nobody pinned.
void follow_thread_count();

/// Brings the thread that pinned back to the first core, where the scheduler has put it on another
/// thread's: the two would take turns of 0.1 ms there, as long as each looks for the other's end.
/// It stays free to go, for threads that it makes inherit where they may run. Takes 20 ns where it
/// is there already; nothing for any other thread.
void return_to_own_core();

}  // namespace d5::detail
