// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Title of an evaluation for lists: its models, frameworks and scenarios, "efficientnet-lite0 ·
/// torch · single_stream"; else its name. `canonical` is `FixedEvaluation::canonical`, or the
/// manifest of an evaluation alone; otherwise the title is empty.
[[nodiscard]] std::string evaluation_title(const std::string& canonical);

}  // namespace d5
