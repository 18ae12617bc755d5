// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Bounds how long threads without work spin, for spinning ones take the cores from whoever they
/// wait for: d5's own always, and those of OpenMP runtimes that are loaded later, such as torch's,
/// by the variable GOMP_SPINCOUNT, where the user has set neither it nor OMP_WAIT_POLICY. Called
/// before a plug-in is loaded. Returns what holds now: "d5: spins 0.1 ms, then sleeps; OpenMP:
/// GOMP_SPINCOUNT=10000, set by d5".
std::string bound_waiting();

/// Outlasts what is left of that, oneTBB's and ONNX Runtime's threads included: 20 ms. Between two
/// that are compared the one before would otherwise slow the next. The wait is busy, so that the
/// processor keeps its frequency.
void outwait_spinning();

}  // namespace d5
