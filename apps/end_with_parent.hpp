// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::app {

/// Where $D5_ENDS_WITH holds the id of the process that started this one, as an agent of its
/// evaluations: ends this one when that one ends, however it does.
void end_with_parent();

}  // namespace d5::app
