// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

#include <memory>
#include <utility>

namespace d5 {

std::shared_ptr<Communicator> CommunicatorDecorator::do_split(int color, int order) {
  auto group = inner_->do_split(color, order);
  return group ? decorate(std::move(group)) : nullptr;
}

std::shared_ptr<Communicator> CommunicatorDecorator::do_group(const std::vector<int>& ranks) {
  return decorate(inner_->do_group(ranks));
}

std::shared_ptr<Communicator> CommunicatorDecorator::own_group() const {
  std::shared_ptr<Communicator> at = inner_;
  while (const auto* decorator = dynamic_cast<CommunicatorDecorator*>(at.get())) {
    at = decorator->inner_;
  }
  return at->split(0, at->rank());
}

}  // namespace d5
