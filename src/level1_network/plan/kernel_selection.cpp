// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/kernel_selection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/screen/progress.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/plan/dynamic_kernel.hpp"

namespace d5 {
namespace {

/// Candidates beyond the preferred frameworks; the one that the request names for the node comes
/// first.
std::vector<const OperatorRegistry*> candidates_for(const Draft& draft, const onnx::Node& node,
                                                    const FrameworkChoice& frameworks) {
  std::vector<const OperatorRegistry*> result = frameworks.candidates;
  const auto named = draft.request.kernels.find(first_output(node));
  if (named == draft.request.kernels.end()) return result;
  std::ranges::stable_partition(
      result, [&](const auto* candidate) { return candidate->framework() == named->second; });
  return result;
}

/// Values as a kernel on `device` sees them: copied there in plain layout, unless they are already
/// there in any layout.
std::vector<ValueDesc> found_on(Device device, std::span<Draft::Slot* const> slots) {
  std::vector<ValueDesc> result;
  for (const Draft::Slot* slot : slots) {
    ValueDesc& desc = result.emplace_back(slot ? slot->desc : ValueDesc());
    if (!desc.is_tensor() || desc.tensor.device == device) continue;
    desc.tensor.device = device;
    desc.tensor.layout = Layout::row_major;
    desc.tensor.arrangement = nullptr;
  }
  return result;
}

void take_kernel(Draft& draft, Draft::Step& step, PlannedKernel planned) {
  step.framework = planned.framework->framework();
  step.scratch_bytes = planned.scratch_bytes;
  step.saved = std::move(planned.saved);
  step.traits = planned.kernel->traits();
  step.accepted_layouts = planned.accepted_layouts;
  step.wanted_layouts = std::move(planned.wanted_layouts);
  for (std::size_t k = 0; k < step.outputs.size() && !step.dynamic; ++k) {
    if (!step.outputs[k]) continue;
    TensorDesc& desc = step.outputs[k]->desc.tensor;
    desc.device = step.device;
    desc.arrangement = planned.arrangements[k];
    desc.layout = desc.arrangement ? Layout::opaque : Layout::row_major;
    step.output_descs[k] = desc;
  }
  step.kernel = draft.plan->kernels.emplace_back(std::move(planned.kernel)).get();
}

/// "placed by Conv=torch: ", or an empty text.
std::string placement_of(const onnx::Node& node, const RunState& state) {
  const auto* placed = state.placed_by(node);
  return placed ? fmt::format("placed by {}: ", printable(to_string(placed->rule))) : "";
}

/// Selects a kernel on the requested device if a framework has one there, otherwise on the host.
void select_static(Draft& draft, Draft::Step& step, PlanTarget target) {
  std::vector<Device> devices{draft.request.device};
  if (draft.request.device != Device{}) devices.push_back({});
  const FrameworkChoice& frameworks = draft.state.frameworks_for(*step.node);
  std::vector<const OperatorRegistry*> asked = frameworks.preferred;
  std::ranges::copy(candidates_for(draft, *step.node, frameworks), std::back_inserter(asked));
  std::string reasons;
  for (const Device device : devices) {
    target.device = step.device = device;
    step.input_descs = found_on(device, step.inputs);
    for (ValueDesc& output : step.output_descs) output.tensor.device = device;
    const PlanContext context(*step.op, *step.node, step.input_descs, step.constants,
                              step.output_descs, target);
    if (PlannedKernel planned = first_kernel(context, asked, reasons); planned.kernel) {
      return take_kernel(draft, step, std::move(planned));
    }
  }
  throw Unsupported(fmt::format("{}: {}{}", onnx::describe(*step.node),
                                placement_of(*step.node, draft.state), reasons));
}

/// Checks now that a framework has the operator; types and shapes are checked in each run.
void expect_known(const onnx::Node& node, const FrameworkChoice& frameworks,
                  const RunState& state) {
  std::string reasons;
  for (const OperatorRegistry* framework : frameworks.all()) {
    const Support known = framework->knows(node);
    if (known) return;
    reasons += fmt::format("{}{} does not support {}", reasons.empty() ? "" : "; ",
                           framework->framework(), known.reason);
  }
  throw Unsupported(
      fmt::format("{}: {}{}", onnx::describe(node), placement_of(node, state), reasons));
}

void select_dynamic(Draft& draft, Draft::Step& step, PlanTarget target) {
  const FrameworkChoice& frameworks = draft.state.frameworks_for(*step.node);
  expect_known(*step.node, frameworks, draft.state);
  auto kernel = std::make_unique<DynamicKernel>(
      NodeRun(*step.node, *step.op, frameworks.all(), target, *step.services));
  step.framework = draft.plan->framework_names.emplace_back(frameworks.names());
  step.traits = kernel->traits();
  step.kernel = draft.plan->kernels.emplace_back(std::move(kernel)).get();
}

/// A requested device on which nothing runs is an error.
void expect_use_of_device(const Draft& draft) {
  const Device device = draft.request.device;
  if (device == Device{} || draft.steps.empty()) return;
  for (const Draft::Step& step : draft.steps) {
    if (step.device == device) return;
  }
  throw Unsupported(fmt::format(
      "nothing of this network runs on {}: {} has no kernel there for any of its nodes; "
      "name a framework that has (d5 list frameworks)",
      to_string(device), draft.state.frameworks.names()));
}

}  // namespace

void select_kernels(Draft& draft) {
  // Frameworks that compile node by node are slow.
  Progress progress("planning in " + draft.state.frameworks.names(), std::ssize(draft.steps),
                    {.unit = "nodes"});
  for (Draft::Step& step : draft.steps) {
    const PlanTarget target{.mode = draft.request.mode,
                            .grad_inputs = step.grad_inputs,
                            .keeps_layouts = !step.dynamic};
    const bool plans_in_each_run = step.dynamic && !step.planned_once;
    (plans_in_each_run ? select_dynamic : select_static)(draft, step, target);
    progress.advance();
  }
  expect_use_of_device(draft);
}

}  // namespace d5
