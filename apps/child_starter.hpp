// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::app {

class Program;

/// The word that makes this program a starter of an agent's children. It is no command: nobody
/// types it.
inline constexpr const char* kStartChildren = "start-children";
[[nodiscard]] bool is_child_starter(int argc, char** argv);

/// Looks up what every evaluation looks up, once for all of them; then as `d5::start_children`.
[[nodiscard]] int start_children(Program& program);

}  // namespace d5::app
