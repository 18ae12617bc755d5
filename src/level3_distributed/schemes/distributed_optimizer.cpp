// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/distributed_optimizer.hpp"

#include "d5/level3_distributed/communicator_agreement.hpp"

namespace d5 {
namespace distributed_optimizer {
void register_all(Registry<DistributedOptimizerEntry>& registry);
}

DistributedOptimizer::DistributedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                                           std::shared_ptr<Communicator> communicator)
    : optimizer_(std::move(optimizer)), communicator_(std::move(communicator)) {
  optimizer_->set_agreement(std::make_shared<CommunicatorAgreement>(communicator_));
}

Registry<DistributedOptimizerEntry>& distributed_optimizers() {
  static Registry<DistributedOptimizerEntry> registry("distributed optimizer",
                                                      distributed_optimizer::register_all);
  return registry;
}

}  // namespace d5
