// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// From now on a pipeline may have a step `python`, which runs a function of the user's own: code
/// that a manifest names runs nowhere else. The first call does it, later ones change nothing.
///
///     allow_own_steps();
///     steps: [decode, {name: python, function: "mine.py::sharpen", type: uint8, shape: "?x?x3"}]
///
/// The function takes a numpy array and returns one, in a worker process of its own a thread
/// (`python3` of the path, with numpy); one that raises, hangs or ends costs its sample.
void allow_own_steps();

/// Why a step of this name cannot be used as long as that was not called; empty for all others.
[[nodiscard]] std::string own_step_refusal(const std::string& step);

}  // namespace d5
