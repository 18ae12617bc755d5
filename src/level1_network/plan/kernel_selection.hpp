// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// For each step the kernel of the first framework that supports it and can plan it: of those asked
/// for by name, then of the one in `CompileRequest::kernels`, then of
/// `FrameworkChoice::candidates`. Throws: Unsupported with every framework's reason.
void select_kernels(Draft& draft);

}  // namespace d5
