// SPDX-License-Identifier: Apache-2.0
// A file of its own, so that a commit rebuilds no other.
#include "core/machine/source_commit.hpp"

namespace d5::detail {

const char* source_commit() { return D5_SOURCE_COMMIT; }

}  // namespace d5::detail
