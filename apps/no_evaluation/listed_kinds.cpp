// SPDX-License-Identifier: Apache-2.0
#include "apps/listed_kinds.hpp"

namespace d5::app {

void list_evaluation(std::vector<ListedKind>& /*kinds*/) {}

void carry_evaluation(CarriedValues& /*values*/) {}

}  // namespace d5::app
