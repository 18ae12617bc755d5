// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

namespace d5::python {

/// Of an object of d5.DistributedOptimizer. Throws: TypeError for one without `exchange`.
[[nodiscard]] std::shared_ptr<DistributedOptimizer> to_scheme(
    const py::object& self, std::shared_ptr<ThreeStepOptimizer> optimizer,
    std::shared_ptr<Communicator> ranks);

}  // namespace d5::python
