// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communication_operators.hpp"

#include <mutex>

#include "d5/level0_ops/custom_operator.hpp"
#include "d5/level1_network/transform.hpp"
#include "d5/level3_distributed/communication_group.hpp"
#include "level0_ops/operator/custom/operator_communicators.hpp"
#include "level3_distributed/graph/c_communicator.hpp"

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
    detail::set_operator_communicators([](const std::string& group) {
      return detail::c_communicator(communication_group(group));
    });
  });
}

}  // namespace d5
