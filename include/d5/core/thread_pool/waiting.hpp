// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Limits how long idle threads spin, because spinning threads take cores from the threads they
/// wait for. Applies to d5's own threads, and to OpenMP runtimes that are loaded later, such as
/// torch's, by the environment variable GOMP_SPINCOUNT, unless the user has set it or
/// OMP_WAIT_POLICY. Called before a plug-in is loaded. Returns a description: "d5: spins 0.1 ms,
/// then sleeps; OpenMP: GOMP_SPINCOUNT=10000, set by d5".
std::string bound_waiting();

/// Waits 20 ms, until idle threads have stopped spinning, including those of oneTBB and ONNX
/// Runtime. Otherwise the previous of two compared subjects would slow down the next. It is a busy
/// wait, so that the processor keeps its frequency.
void outwait_spinning();

}  // namespace d5
