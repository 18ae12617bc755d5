// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace d5::detail {

/// Keeps an abandoned request alive until the process exits: the transport may still write into its
/// memory, and its destructor would wait.
void keep_until_exit(std::shared_ptr<void> what);

}  // namespace d5::detail
