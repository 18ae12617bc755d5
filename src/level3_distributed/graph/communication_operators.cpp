// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communication_operators.hpp"

#include <mutex>

#include "d5/level0_ops/custom_operator.hpp"
#include "d5/level1_network/transform.hpp"

namespace d5 {

namespace communication_operator {
void register_all(OperatorRegistry& registry);  // generated
}
namespace communication_transform {
void register_all(Registry<TransformEntry>& registry);  // generated
}

void add_communication_operators() {
  static std::once_flag added;
  std::call_once(added, [] {
    communication_operator::register_all(custom_operators());
    communication_transform::register_all(transforms());
  });
}

}  // namespace d5
