// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace d5::app {

/// A command that this program was built without: "eval_run" of "evaluation", which CMake's option
/// D5_BUILD_EVALUATION builds.
struct LeftOutCommand {
  std::string_view name, building, option;
};

/// All of them, by the names of their files. CMake writes the list.
[[nodiscard]] std::span<const LeftOutCommand> left_out_commands();

}  // namespace d5::app
