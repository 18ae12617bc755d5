// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// The commit of the sources at configuration, with "-dirty" if they differed from it; "unknown"
/// outside git.
[[nodiscard]] const char* source_commit();

}  // namespace d5::detail
