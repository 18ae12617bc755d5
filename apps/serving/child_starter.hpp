// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::app {

/// The word that makes this program a starter of an agent's children. It is no command: nobody
/// types it.
inline constexpr const char* kStartChildren = "start-children";
[[nodiscard]] bool is_child_starter(int argc, char** argv);

/// Looks up what every evaluation looks up, once for all of them; then as `d5::start_children`.
/// What is started knows `eval run` and no other command.
[[nodiscard]] int start_children();

}  // namespace d5::app
