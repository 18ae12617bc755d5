// SPDX-License-Identifier: Apache-2.0
// Entry point of the plug-in: oneDNN's parts of each level.
#include "d5/core/entries/plugin.hpp"

#include <omp.h>

#include "d5/core/machine/thread_share.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "engine.hpp"
#include "reorder_kernel.hpp"

namespace d5::onednn {

void register_all(OperatorRegistry& registry);  // generated

namespace {

void fill(Framework& framework) {
  expect_version();
  on_threads_changed([](int count) { omp_set_num_threads(count); });
  on_thread_share([](int count) { omp_set_num_threads(count); });
  auto& operators = framework.part<OperatorRegistry>();
  register_all(operators);
  operators.set_reorder([](const TensorDesc& from, const TensorDesc& to) {
    return std::make_unique<ReorderKernel>(from, to);
  });
}

}  // namespace
}  // namespace d5::onednn

D5_FRAMEWORK_PLUGIN("onednn", d5::onednn::version(), d5::onednn::fill)
