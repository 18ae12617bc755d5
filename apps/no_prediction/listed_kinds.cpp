// SPDX-License-Identifier: Apache-2.0
#include "apps/listed_kinds.hpp"

namespace d5::app {

void list_prediction(std::vector<ListedKind>& /*kinds*/) {}

}  // namespace d5::app
