// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// What an evaluation is about, for lists: "efficientnet-lite0 · torch · single_stream", its
/// models, frameworks and scenarios; else its name. `canonical` is `FixedEvaluation::canonical`, or
/// only the manifest of an evaluation; empty where it is neither.
[[nodiscard]] std::string evaluation_title(const std::string& canonical);

}  // namespace d5
