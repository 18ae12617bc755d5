// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Allows the step `python` in pipelines, which runs a user's function. Without this call, no code
/// that a manifest names is run. Further calls have no effect.
///
///     allow_own_steps();
///     steps: [decode, {name: python, function: "mine.py::sharpen", type: uint8, shape: "?x?x3"}]
///
/// The function takes a numpy array and returns one. Each thread has its own worker process
/// (`python3` of PATH, with numpy). A function that raises, hangs or ends fails only its sample.
void allow_own_steps();

/// The reason why a step of this name needs `allow_own_steps`; empty for all others.
[[nodiscard]] std::string own_step_refusal(const std::string& step);

}  // namespace d5
