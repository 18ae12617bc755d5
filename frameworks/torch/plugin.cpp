// SPDX-License-Identifier: Apache-2.0
// The plug-in's entry: what LibTorch brings to each level.
#include "d5/core/plugin.hpp"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include "d5/core/threads.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "result_memory.hpp"

namespace d5::torch {

void register_all(OperatorRegistry& registry);  // generated

namespace {

void fill(Framework& framework) {
  ResultMemory::install();
  on_threads_changed([](int count) { at::set_num_threads(count); });
  register_all(framework.part<OperatorRegistry>());
}

}  // namespace
}  // namespace d5::torch

D5_FRAMEWORK_PLUGIN("torch", TORCH_VERSION, d5::torch::fill)
