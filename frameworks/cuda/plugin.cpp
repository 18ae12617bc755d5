// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/plugin.hpp"

#include "cuda_memory.hpp"

namespace d5::cuda {
namespace {

void fill(Framework& framework) {
  (void)add_device(framework, "cuda", std::make_shared<CudaMemory>(), DeviceKind::cuda);
}

}  // namespace
}  // namespace d5::cuda

D5_FRAMEWORK_PLUGIN("cuda", D5_VERSION, d5::cuda::fill)
