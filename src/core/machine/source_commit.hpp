// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// The commit of the sources when they were configured, "-dirty" where they differed from it;
/// "unknown" outside git.
[[nodiscard]] const char* source_commit();

}  // namespace d5::detail
