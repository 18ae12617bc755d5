// SPDX-License-Identifier: Apache-2.0
#include "level1_network/compile.hpp"

#include "level1_network/draft.hpp"
#include "level1_network/gradient_layout.hpp"
#include "level1_network/gradient_paths.hpp"
#include "level1_network/kernel_selection.hpp"
#include "level1_network/link.hpp"
#include "level1_network/memory_layout.hpp"
#include "level1_network/resolve.hpp"
#include "level1_network/transfers.hpp"

namespace d5 {

std::unique_ptr<Plan> compile(const CompileRequest& request, RunState& state) {
  Draft draft(request, state);
  resolve(draft);
  if (draft.goes_back()) find_gradient_paths(draft);
  select_kernels(draft);
  add_transfers(draft);
  plan_lifetimes(draft);
  if (draft.goes_back()) plan_gradients(draft);
  lay_out_memory(draft);
  record_memory(draft);
  link(draft);
  return std::move(draft.plan);
}

}  // namespace d5
