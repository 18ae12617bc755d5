// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Allows the steps called `python`, for samples and for answers, which run a user's function.
/// Without this call they are refused, so that no code that a manifest names is run. Further calls
/// have no effect.
///
///     allow_own_steps();
///     steps: [{name: python, function: "mine.py::features", type: int32, shape: 2048}]
///     answer: [{name: python, function: "mine.py::decoded"}]
///
/// A sample's function takes a numpy array and returns one; bytes of a file are uint8. An answer's
/// takes a dict of arrays by name, and returns those that it adds or replaces. Each thread has its
/// own worker process (`python3` of PATH, with numpy). A function that raises, hangs or ends fails
/// only its sample.
void allow_own_steps();

/// The reason why a step of this name needs `allow_own_steps`; empty for all others, and once they
/// are allowed.
[[nodiscard]] std::string own_step_refusal(const std::string& step);

}  // namespace d5
