// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/transfers.hpp"

#include <fmt/format.h>

#include <utility>

#include "d5/core/entries/framework.hpp"
#include "level1_network/plan/transfer_kernel.hpp"

namespace d5 {
namespace {

using Slot = Draft::Slot;
using Origin = Draft::Origin;

TensorDesc placed(TensorDesc desc, Device device) {
  desc.device = device;
  return desc;
}
TensorDesc row_major(TensorDesc desc) {
  desc.layout = Layout::row_major;
  desc.arrangement = nullptr;
  return desc;
}

/// Rebuilds the list of steps, with transfers before the steps that need them.
class Transfers {
 public:
  explicit Transfers(Draft& draft) : draft_(draft) {}

  void run() {
    auto steps = std::exchange(draft_.steps, {});
    draft_.steps.reserve(2 * steps.size());
    for (Draft::Step& step : steps) {
      bring_inputs(step);
      bring_captured(step);
      draft_.steps.push_back(std::move(step));
    }
    for (const auto& output : draft_.request.graph->outputs) {
      Slot& slot = draft_.at(output.name);
      draft_.answers[output.name] =
          draft_.request.outputs == OutputPlace::host ? &brought(slot, {}, false) : &plain(slot);
    }
    for (const auto& [constant, output] : draft_.request.updates) {
      draft_.updates[constant] = &brought(draft_.at(output), {}, false);
    }
    // Gradients are row-major, because the readers that pass them on read the value as row-major.
    for (auto& [name, slot] : draft_.asked) slot = &plain(*slot, slot->reached);
    list_backward();
  }

 private:
  void bring_inputs(Draft::Step& step) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      if (!step.inputs[i]) continue;
      const bool with_gradient = step.grad_inputs.contains(i);
      Slot& original = *step.inputs[i];
      const bool as_it_is = step.accepted_layouts.contains(i) && !with_gradient;
      const auto wanted = i < step.wanted_layouts.size() ? step.wanted_layouts[i] : nullptr;
      Slot& slot = wanted ? arranged(original, step.device, wanted)
                          : brought(original, step.device, with_gradient, as_it_is);
      step.inputs[i] = &slot;
      step.input_descs[i] = slot.desc;
    }
  }

  /// Subgraphs run on the host.
  void bring_captured(Draft::Step& step) {
    std::map<const Slot*, const Slot*> moved;
    for (std::size_t j = 0; j < step.captured.size(); ++j) {
      Slot*& slot = step.captured[j];
      const bool with_gradient = step.grad_inputs.contains(step.inputs.size() + j);
      Slot& there = brought(*slot, {}, with_gradient);
      if (&there != slot) moved[slot] = &there;
      slot = &there;
    }
    if (moved.empty()) return;
    step.services->bind_graphs(step.graphs, draft_.request.mode, [&](const std::string& name) {
      const Slot* slot = step.scope.at(name);
      const auto place = moved.find(slot);
      return place == moved.end() ? captured(slot) : NodeServices::Captured{place->second->value};
    });
  }

  /// The copy of `slot` on `device`; row-major unless its arrangement may stay.
  Slot& brought(Slot& slot, Device device, bool with_gradient, bool as_it_is = false) {
    if (!slot.desc.is_tensor()) return slot;
    const Device from = slot.desc.tensor.device;
    if (from == device && as_it_is) return slot;
    Slot& dense = plain(slot, with_gradient);
    if (from == device) return dense;
    const bool by_way_of_host = from != Device{} && device != Device{};
    Slot& near = by_way_of_host ? brought(dense, {}, with_gradient) : dense;
    return sent(near, placed(near.desc.tensor, device), with_gradient);
  }

  /// The copy of `slot` on `device`, in this arrangement.
  Slot& arranged(Slot& slot, Device device, const std::shared_ptr<const Arrangement>& wanted) {
    const TensorDesc& desc = slot.desc.tensor;
    TensorDesc to = placed(desc, device);
    to.layout = Layout::opaque;
    to.arrangement = wanted;
    if (desc == to) return slot;
    const bool direct = desc.device == device && desc.arrangement &&
                        desc.arrangement->framework() == wanted->framework();
    return sent(direct ? slot : brought(slot, device, false), to, false);
  }

  /// The row-major copy of `slot`, on its device. Kernels that arrange have no backward: a gradient
  /// ends there.
  Slot& plain(Slot& slot, bool with_gradient = false) {
    if (!slot.desc.is_tensor() || !slot.desc.tensor.arrangement) return slot;
    Slot& rows = sent(slot, row_major(slot.desc.tensor), false);
    if (with_gradient) rows.wants_gradient = rows.reached = true;
    return rows;
  }

  struct Arrival {
    Slot* from;
    TensorDesc to;
    Slot* slot;
    std::size_t step;  ///< index in the draft; none for a constant
  };
  static constexpr std::size_t kNoStep = std::size_t(-1);

  Slot& sent(Slot& from, const TensorDesc& to, bool with_gradient) {
    Arrival* arrival = nullptr;
    for (Arrival& known : arrivals_) {
      if (known.from == &from && known.to == to) arrival = &known;
    }
    if (!arrival) arrival = &arrivals_.emplace_back(send(from, to));
    if (with_gradient && arrival->step != kNoStep) {
      draft_.steps[arrival->step].grad_inputs.add(0);
      arrival->slot->wants_gradient = arrival->slot->reached = true;
    }
    return *arrival->slot;
  }

  Arrival send(Slot& from, const TensorDesc& to) {
    Slot& there = draft_.slots.emplace_back();
    there.name =
        to.arrangement || from.desc.tensor.arrangement
            ? fmt::format("{} in {}", from.name, to.arrangement ? to.arrangement->name() : "rows")
            : fmt::format("{} on {}", from.name, to_string(to.device));
    there.desc = to;
    there.value = &draft_.plan->values.emplace_back();
    const bool stays = from.origin == Origin::constant || from.origin == Origin::variable;
    if (stays && from.desc.tensor.device == to.device) {
      draft_.kept.push_back(step_of(from, there));
      return {&from, to, &there, kNoStep};
    }
    if (from.origin == Origin::constant) {
      there.origin = Origin::constant;
      *there.value = from.value->tensor().copy(to.device);
      return {&from, to, &there, kNoStep};
    }
    draft_.steps.push_back(step_of(from, there));
    return {&from, to, &there, draft_.steps.size() - 1};
  }

  Draft::Step step_of(Slot& from, Slot& to) {
    Plan& plan = *draft_.plan;
    const TensorDesc &source = from.desc.tensor, &target = to.desc.tensor;
    const bool copies = source.device != target.device;
    auto& node = plan.nodes.emplace_back();
    node.name = to.name;
    node.op_type = copies ? "Copy" : "Reorder";
    node.domain = kTransferDomain;
    node.opset = 1;
    node.inputs = {from.name};
    node.outputs = {to.name};
    Draft::Step step;
    step.node = &node;
    step.op = plan.operators.emplace_back(std::make_unique<Transfer>(target)).get();
    step.path = node.name;
    step.services = &plan.services.emplace_back(draft_.state, node, step.path);
    step.inputs = {&from};
    step.outputs = {&to};
    step.input_descs = {from.desc};
    step.output_descs = {to.desc};
    step.constants = {nullptr};
    step.differentiable = {0};
    step.device = source.device != Device{} ? source.device : target.device;
    step.transfers = true;
    std::unique_ptr<Kernel> kernel;
    if (copies) {
      step.framework = "d5";
      kernel = std::make_unique<CopyKernel>(plan.host_reads);
    } else {
      const auto& arrangement = target.arrangement ? target.arrangement : source.arrangement;
      step.framework = arrangement->framework();
      kernel = framework(arrangement->framework()).part<OperatorRegistry>().reorder(source, target);
    }
    step.traits = kernel->traits();
    step.kernel = plan.kernels.emplace_back(std::move(kernel)).get();
    return step;
  }

  /// Lists the backward steps in reverse order of the forward steps.
  void list_backward() {
    draft_.backward.clear();
    for (auto step = draft_.steps.rbegin(); step != draft_.steps.rend(); ++step) {
      if (!step->grad_inputs.empty()) draft_.backward.push_back({&*step});
    }
  }

  Draft& draft_;
  std::deque<Arrival> arrivals_;
};

}  // namespace

void add_transfers(Draft& draft) { Transfers(draft).run(); }

}  // namespace d5
