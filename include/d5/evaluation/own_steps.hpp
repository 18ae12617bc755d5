// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace d5
