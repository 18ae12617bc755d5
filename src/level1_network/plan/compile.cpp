// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/compile.hpp"

#include "level1_network/plan/draft.hpp"
#include "level1_network/plan/gradients/gradient_paths.hpp"
#include "level1_network/plan/kernel_selection.hpp"
#include "level1_network/plan/link.hpp"
#include "level1_network/plan/memory/memory_layout.hpp"
#include "level1_network/plan/memory/recomputation.hpp"
#include "level1_network/plan/resolve.hpp"
#include "level1_network/plan/transfers.hpp"
#include "level1_network/plan/updates_in_place.hpp"

namespace d5 {
namespace {

void lay_out(Draft& draft) {
  resolve(draft);
  if (draft.goes_back()) find_gradient_paths(draft);
  select_kernels(draft);
  add_transfers(draft);
  find_updates_in_place(draft);
  choose_recomputation(draft);
  plan_lifetimes(draft);
  assign_places(draft);
  record_memory(draft);
}

}  // namespace

std::unique_ptr<Plan> compile(const CompileRequest& request, RunState& state) {
  Draft draft(request, state);
  lay_out(draft);
  allocate_memory(draft);
  link(draft);
  return std::move(draft.plan);
}

PlannedMemory plan_memory(const CompileRequest& request, RunState& state) {
  Draft draft(request, state);
  lay_out(draft);
  return std::move(draft.plan->memory);
}

}  // namespace d5
