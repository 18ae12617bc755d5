// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace d5::detail {

/// Of what is still under way when nobody waits for it any more: a transport goes on writing into
/// its memory, and ending it would wait. It is never destroyed.
void keep_until_exit(std::shared_ptr<void> what);

}  // namespace d5::detail
