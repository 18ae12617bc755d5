// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::app {

/// The word that makes this program a starter of an agent's children. It is internal, and no
/// command.
inline constexpr const char* kStartChildren = "start-children";
[[nodiscard]] bool is_child_starter(int argc, char** argv);

/// Initialises what every evaluation needs, once for all of them, then behaves as
/// `d5::start_children`. The children know `eval run` and no other command.
[[nodiscard]] int start_children();

}  // namespace d5::app
