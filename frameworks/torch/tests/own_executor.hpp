// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/entries/framework.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::test {

/// Torch's own executor of whole networks.
inline std::shared_ptr<GraphExecutor> own_executor(Network network,
                                                   const ExecutorOptions& options = {}) {
  return framework("torch").part<ExecutorRegistry>().at("torch").make(std::move(network), options);
}

}  // namespace d5::test
