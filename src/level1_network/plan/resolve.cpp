// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/resolve.hpp"

#include <algorithm>
#include <set>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/nodes/differentiated_graph.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/plan/constant_folding.hpp"
#include "level1_network/plan/static_sequences.hpp"

namespace d5 {
namespace {

using Slot = Draft::Slot;
using Origin = Draft::Origin;

void define_fed(Draft& draft) {
  for (const auto& [name, desc] : draft.request.fed) {
    Slot& slot = draft.define(name);
    slot.desc = desc;
    slot.origin = Origin::fed;
    draft.plan->inputs.push_back({name, desc, slot.value});
  }
  std::sort(draft.plan->inputs.begin(), draft.plan->inputs.end(),
            [](const Plan::Fed& a, const Plan::Fed& b) { return a.name < b.name; });
}

void define_initializers(Draft& draft) {
  const CompileRequest& request = draft.request;
  for (const auto& [name, value] : request.constants) {
    Slot& slot = draft.define(name);
    slot.desc = value.desc();
    slot.origin = Origin::constant;
    *slot.value = value;
  }
  for (const auto& [name, tensor] : request.graph->initializers) {
    if (draft.find(name)) continue;  // a default that was fed
    Slot& slot = draft.define(name);
    slot.desc = tensor.desc();
    slot.origin = request.variables.contains(name) || request.updates.contains(name)
                      ? Origin::variable
                      : Origin::constant;
    *slot.value = tensor;
  }
}

using GraphPointer = std::shared_ptr<const onnx::Graph>;

bool is_if(const onnx::Node& node) { return node.domain.empty() && node.op_type == "If"; }

std::string path_of(const onnx::Node& node, const std::string& graph) {
  const std::string name = node.name.empty() ? first_output(node) : node.name;
  return graph.empty() ? name : graph + '/' + name;
}

/// Makes a step with the inputs of its node resolved.
Draft::Step read_inputs(Draft& draft, const onnx::Node& node) {
  Draft::Step step;
  step.node = &node;
  step.path = path_of(node, draft.path);
  for (const auto& name : node.inputs) {
    Slot* slot = name.empty() ? nullptr : &draft.at(name);
    step.inputs.push_back(slot);
    step.input_descs.push_back(slot ? slot->desc : ValueDesc());
    step.constants.push_back(slot && slot->origin == Origin::constant ? slot->value : nullptr);
  }
  step.graphs =
      is_gradient(node)
          ? NodeServices::Graphs{{"graph", differentiated_graph(node, *draft.request.graph)}}
          : onnx::subgraphs(node);
  for (const auto& [attribute, graph] : step.graphs) {
    for (const auto& name : onnx::captured_names(*graph)) {
      // A subgraph may capture a value of the graph's outer scope, which its own runner binds.
      Slot* slot = draft.find(name);
      step.scope[name] = slot;
      const auto& known = step.captured;
      if (slot && std::find(known.begin(), known.end(), slot) == known.end()) {
        step.captured.push_back(slot);
      }
    }
  }
  return step;
}

bool is_constant(const Draft::Step& step) {
  return step.graphs.empty() &&
         std::all_of(step.inputs.begin(), step.inputs.end(),
                     [](const Slot* slot) { return !slot || slot->origin == Origin::constant; });
}

/// Whether the node reads only the shape of its input.
bool asks_for_shape(const onnx::Node& node) {
  return node.domain.empty() && (node.op_type == "Shape" || node.op_type == "Size");
}

bool reads_known_shape(const Draft::Step& step) {
  const ValueDesc& input = step.input_descs.front();
  return asks_for_shape(*step.node) && input.is_tensor() && input.is_static();
}

/// Whether the node's outputs are now known; it then needs no step.
bool fold_into_slots(Draft& draft, const Draft::Step& step, const Operator& op) {
  std::vector<const Value*> known = step.constants;
  auto frameworks = draft.state.frameworks_for(*step.node).all();
  Value without_data;
  if (!is_constant(step)) {
    if (!reads_known_shape(step)) return false;
    without_data = Tensor::borrow(step.input_descs.front().tensor, nullptr);
    known.front() = &without_data;
    // Kernels of other frameworks might read the values.
    frameworks = {&d5::framework("reference").part<OperatorRegistry>()};
  }
  const auto& asked = draft.request.gradients;  // a step gives its outputs the gradients
  if (std::ranges::any_of(step.node->outputs, [&](const auto& o) { return asked.contains(o); })) {
    return false;
  }
  auto values = fold(*step.node, op, known, frameworks, draft.state);
  if (!values) return false;
  for (std::size_t k = 0; k < values->size(); ++k) {
    if (!step.node->has_output(k)) continue;
    Slot& slot = draft.define(step.node->outputs[k]);
    slot.desc = (*values)[k].desc();
    slot.origin = Origin::constant;
    *slot.value = std::move((*values)[k]);
  }
  return true;
}

/// Outputs of `graph`, which the step's node holds; throws what compiling it would.
std::vector<ValueDesc> outputs_of(Draft& draft, const Draft::Step& step,
                                  const std::string& attribute, const GraphPointer& graph) {
  CompileRequest request{
      .graph = graph, .path = step.path + '/' + attribute, .mode = draft.request.mode};
  for (const auto& name : onnx::captured_names(*graph)) {
    const Slot* slot = step.scope.at(name);
    if (!slot) throw NotFound(printable(name));
    if (slot->origin == Origin::constant) {
      request.constants.emplace_back(name, *slot->value);
    } else {
      request.fed.emplace_back(name, slot->desc);
    }
  }
  Draft inner(request, draft.state);
  resolve(inner);
  std::vector<ValueDesc> result;
  for (const auto& output : graph->outputs) result.push_back(inner.at(output.name).desc);
  return result;
}

/// Outputs of an If that are the same in both branches; empty if they differ or are known only at
/// run time.
std::vector<ValueDesc> common_outputs(Draft& draft, const Draft::Step& step) {
  const onnx::Node& node = *step.node;
  if (draft.goes_back() || !is_if(node)) return {};
  std::vector<ValueDesc> common;
  for (const auto& [attribute, graph] : step.graphs) {
    std::vector<ValueDesc> outputs;
    try {
      outputs = outputs_of(draft, step, attribute, graph);
    } catch (const Error&) {  // thrown again when it is run
      return {};
    }
    if (outputs.size() < node.outputs.size()) return {};
    outputs.resize(node.outputs.size());
    const bool known =
        std::ranges::all_of(outputs, [](const ValueDesc& desc) { return desc.is_static(); });
    const auto agree = [](const ValueDesc& a, const ValueDesc& b) { return a.tensor == b.tensor; };
    if (!known || (!common.empty() && !std::ranges::equal(common, outputs, agree))) return {};
    common = std::move(outputs);
  }
  return common;
}

void infer(Draft& draft, Draft::Step& step, const Operator& op) {
  const onnx::Node& node = *step.node;
  step.dynamic = !std::all_of(step.inputs.begin(), step.inputs.end(),
                              [](const Slot* slot) { return !slot || slot->desc.is_static(); });
  const bool knows_inputs = !step.dynamic;
  if (knows_inputs) {
    step.output_descs = op.infer(InferContext(node, step.input_descs, step.constants));
    if (auto known = common_outputs(draft, step); !known.empty()) step.output_descs = known;
  } else if (asks_for_shape(node)) {
    step.output_descs = {unknown_shape(DType::int64)};  // carries no gradient
  }
  step.output_descs.resize(node.outputs.size());
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.has_output(k)) step.output_descs[k] = {};
    step.dynamic = step.dynamic || (node.has_output(k) && !step.output_descs[k].is_static());
  }
  // The graphs of a node define what it computes, and its kernel runs whatever they contain.
  step.planned_once = knows_inputs && step.dynamic && !step.graphs.empty();
  if (!step.dynamic) return;
  // Outputs of such a step are planned in each run: readers must not rely on current shapes.
  for (ValueDesc& output : step.output_descs) {
    if (output.is_static()) output = unknown_shape(output.tensor.dtype);
  }
}

void define_outputs(Draft& draft, Draft::Step& step) {
  for (std::size_t k = 0; k < step.node->outputs.size(); ++k) {
    Slot*& slot = step.outputs.emplace_back(nullptr);
    if (!step.node->has_output(k)) continue;
    slot = &draft.define(step.node->outputs[k]);
    slot->desc = step.output_descs[k];
    slot->origin = step.dynamic ? Origin::dynamic : Origin::planned;
  }
}

/// The branch taken by an If with a known condition, or null.
GraphPointer taken_branch(Draft& draft, const onnx::Node& node) {
  if (draft.goes_back() || !is_if(node)) return nullptr;
  const Draft::Slot* condition = node.inputs.empty() ? nullptr : draft.find(node.inputs[0]);
  if (!condition || condition->origin != Origin::constant || !condition->value->is_tensor()) {
    return nullptr;
  }
  const Tensor& value = condition->value->tensor();
  if (value.dtype() != DType::boolean || value.elements() != 1) return nullptr;  // If says why
  const auto graphs = onnx::subgraphs(node);
  const auto branch = graphs.find(value.item<bool>() ? "then_branch" : "else_branch");
  const bool fits = branch != graphs.end() && branch->second->inputs.empty() &&
                    branch->second->outputs.size() >= node.outputs.size();
  return fits ? branch->second : nullptr;
}

/// The scope of names in a nested graph; the end of the scope restores their former meaning.
class Scope {
 public:
  Scope(Draft& draft, const onnx::Node& node, const std::string& attribute)
      : draft_(draft), outer_names_(draft.by_name), outer_path_(draft.path) {
    draft.path = path_of(node, draft.path) + '/' + attribute;
  }
  ~Scope() {
    draft_.by_name = std::move(outer_names_);
    draft_.path = std::move(outer_path_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Draft& draft_;
  decltype(Draft::by_name) outer_names_;
  std::string outer_path_;
};

/// Inlines a branch in place of the If, whose outputs become the branch's values.
void resolve_branch(Draft& draft, const onnx::Node& node, const onnx::Graph& branch) {
  std::vector<Slot*> given;
  {
    const bool then = onnx::subgraphs(node).at("then_branch").get() == &branch;
    const Scope scope(draft, node, then ? "then_branch" : "else_branch");
    for (const auto& [name, tensor] : branch.initializers) {
      Slot& slot = draft.define(name);
      slot.desc = tensor.desc();
      slot.origin = Origin::constant;
      *slot.value = tensor;
    }
    for (const auto& inner : branch.nodes) resolve_node(draft, inner);
    for (const auto& output : branch.outputs) given.push_back(&draft.at(output.name));
  }
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.has_output(k)) draft.by_name[node.outputs[k]] = given[k];
  }
}

}  // namespace

void resolve_node(Draft& draft, const onnx::Node& node) {
  if (const auto branch = taken_branch(draft, node)) return resolve_branch(draft, node, *branch);
  Draft::Step step = read_inputs(draft, node);
  std::unique_ptr<Operator> op = operator_for(node, draft.state.frameworks_for(node).all());
  if (fold_into_slots(draft, step, *op)) return;
  infer(draft, step, *op);
  step.differentiable = op->gradients();
  step.op = draft.plan->operators.emplace_back(std::move(op)).get();
  step.planned_once = step.planned_once && !draft.goes_back();
  step.services = &draft.plan->services.emplace_back(draft.state, node, step.path);
  step.services->bind_graphs(step.graphs, draft.request.mode, [&](const std::string& name) {
    return captured(step.scope.at(name));
  });
  define_outputs(draft, step);
  draft.steps.push_back(std::move(step));
}

namespace {

/// Resolves a sequence for a reader of the whole.
void resolve_sequence(Draft& draft, const StaticSequences& sequences, const std::string& name) {
  if (auto node = sequences.construct(name)) {
    resolve_node(draft, draft.plan->nodes.emplace_back(std::move(*node)));
  }
}

/// Does the same as `resolve_node`, in a graph that will be differentiated.
void resolve_without_sequences(Draft& draft, StaticSequences& sequences, const onnx::Node& node) {
  if (auto others = sequences.unrolled(node)) {
    for (auto& other : *others) {
      resolve_node(draft, draft.plan->nodes.emplace_back(std::move(other)));
    }
    return;
  }
  for (const auto& name : read_names(node)) resolve_sequence(draft, sequences, name);
  resolve_node(draft, node);
}

/// Drops constants that only other constants were computed from; they need no memory.
void drop_unread_constants(Draft& draft) {
  std::set<const Slot*> read;
  for (const auto& step : draft.steps) {
    read.insert(step.inputs.begin(), step.inputs.end());
    read.insert(step.captured.begin(), step.captured.end());
  }
  for (const auto& output : draft.request.graph->outputs) read.insert(draft.find(output.name));
  for (const auto& [constant, output] : draft.request.updates) read.insert(draft.find(output));
  for (const Slot& slot : draft.slots) {
    if (slot.origin == Origin::constant && !read.contains(&slot)) *slot.value = Value();
  }
}

}  // namespace

void define_sources(Draft& draft) {
  define_fed(draft);
  define_initializers(draft);
}

void resolve(Draft& draft) {
  define_sources(draft);
  const onnx::Graph& graph = *draft.request.graph;
  if (draft.goes_back()) {
    StaticSequences sequences(draft);
    for (const auto& node : graph.nodes) resolve_without_sequences(draft, sequences, node);
    for (const auto& output : graph.outputs) resolve_sequence(draft, sequences, output.name);
  } else {
    for (const auto& node : graph.nodes) resolve_node(draft, node);
  }
  drop_unread_constants(draft);
}

}  // namespace d5
