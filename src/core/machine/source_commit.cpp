// SPDX-License-Identifier: Apache-2.0
// A separate file, so that a new commit recompiles only this one.
#include "core/machine/source_commit.hpp"

namespace d5::detail {

const char* source_commit() { return D5_SOURCE_COMMIT; }

}  // namespace d5::detail
