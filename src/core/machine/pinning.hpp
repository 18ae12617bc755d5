// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// Updates the pinning after the number of threads changed. Does nothing without pinning.
void follow_thread_count();

/// Moves the thread that called `pin_threads` back to the first core, if the scheduler has moved it
/// to another thread's core, where the two would alternate in slices of 0.1 ms while each spins for
/// the other. The thread is not bound to that core, because threads that it makes inherit its mask.
/// Takes 20 ns if it is there already. Does nothing on any other thread.
void return_to_own_core();

}  // namespace d5::detail
