// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// Pins anew after the number of threads changed; nothing if nobody pinned.
void follow_thread_count();

}  // namespace d5::detail
