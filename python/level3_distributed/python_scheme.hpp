// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

namespace d5::python {

/// Makes a scheme from an object of d5.DistributedOptimizer. Throws: TypeError if it has no
/// `exchange`.
[[nodiscard]] std::shared_ptr<DistributedOptimizer> to_scheme(
    const py::object& self, std::shared_ptr<ThreeStepOptimizer> optimizer,
    std::shared_ptr<Communicator> ranks);

}  // namespace d5::python
