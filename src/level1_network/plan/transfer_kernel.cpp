// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/transfer_kernel.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/device_memory.hpp"

namespace d5 {

std::unique_ptr<Kernel> Transfer::plan(PlanContext& context) const {
  throw Unsupported(context.who() + ": a transfer is planned by the executor");
}

void CopyKernel::carry(Tensor& to, const Tensor& from, Stream& stream) {
  queue_copy(to, from, stream);
  if (to.device() == Device{}) {
    stream.synchronise();
  } else if (from.device() == Device{}) {
    host_reads_.last = stream.record();
  }
}

}  // namespace d5
