// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

#include <fmt/format.h>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"

namespace d5 {

DistributedOptimizer::DistributedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                                           std::shared_ptr<Communicator> communicator)
    : DistributedOptimizer(std::move(optimizer), communicator, communicator) {}

DistributedOptimizer::DistributedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                                           std::shared_ptr<Communicator> communicator,
                                           std::shared_ptr<Communicator> workers)
    : optimizer_(std::move(optimizer)),
      communicator_(std::move(communicator)),
      workers_(std::move(workers)) {
  if (!workers_) return;
  optimizer_->set_agreement(std::make_shared<CommunicatorAgreement>(workers_));
}

Communicator& DistributedOptimizer::workers() {
  if (workers_) return *workers_;
  throw ValueError(fmt::format("rank {} is not a worker of this scheme: it does not train",
                               communicator_->rank()));
}

const DistributedOptimizerEntry& find_scheme(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return distributed_optimizers().at(name);
  return framework(name.substr(0, slash)).part<NativeSchemes>().at(name.substr(slash + 1));
}

}  // namespace d5
