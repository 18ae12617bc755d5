// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Selects for each step the kernel of the first framework that supports it and can plan it: first
/// frameworks placed by name, then the one in `CompileRequest::kernels`, then
/// `FrameworkChoice::candidates`. Throws: Unsupported with every framework's reason.
void select_kernels(Draft& draft);

}  // namespace d5
