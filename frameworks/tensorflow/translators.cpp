// SPDX-License-Identifier: Apache-2.0
#include "translators.hpp"

#include "d5/core/errors/error.hpp"
#include "tensor_view.hpp"
#include "tensorflow_kernel.hpp"

namespace d5::tensorflow {
namespace {

/// Reason why a value is unsupported; empty if it is supported.
std::string obstacle(const ValueDesc& desc) {
  if (desc.kind == ValueKind::none) return {};
  if (!desc.is_tensor()) return to_string(desc) + "; it takes tensors only";
  if (!has_data_type(desc.tensor.dtype)) {
    return "element type " + std::string(name_of(desc.tensor.dtype));
  }
  return {};
}

}  // namespace

Support takes(const PlanContext& context) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (auto reason = obstacle(context.value(i)); !reason.empty()) return {std::move(reason)};
  }
  for (std::size_t k = 0; k < context.output_count(); ++k) {
    if (auto reason = obstacle(context.output_value(k)); !reason.empty()) {
      return {std::move(reason)};
    }
  }
  return {};
}

IntegersInput told_integers(const PlanContext& context, std::size_t i,
                            const std::optional<Sizes>& attribute) {
  IntegersInput integers = context.integers(i, attribute);
  if (integers.is_untold()) {
    throw Unsupported(context.who() + ": input " + std::to_string(i) +
                      " is known only at run time; TensorFlow's kernel requires a constant");
  }
  return integers;
}

void Translators::add(std::string domain, std::string name, int since, Translator translate) {
  const auto [entry, fresh] =
      entries_.try_emplace({std::move(domain), std::move(name)}, since, std::move(translate));
  if (!fresh) {
    throw ValueError("TensorFlow's operator " + entry->first.second + " is registered twice");
  }
}

Translator with_activation(Translator translate) {
  return [translate = std::move(translate)](const PlanContext& context, Graph& graph,
                                            const Terms& inputs) -> Terms {
    const auto* name = context.node().attribute<std::string>("activation");
    if (!name || (*name != "Relu" && *name != "Sigmoid" && *name != "Tanh")) {
      throw Unsupported(context.who() + ": TensorFlow's kernel fuses only Relu, Sigmoid and Tanh");
    }
    Terms y = translate(context, graph, inputs);
    constexpr std::size_t kZ = 3;
    if (context.has_input(kZ)) y = {graph.add("AddV2", {y[0], inputs[kZ]})};
    return {graph.elementwise(name->c_str(), y)};
  };
}

void Translators::register_kernels(OperatorRegistry& registry) const {
  for (const auto& [name, entry] : entries_) {
    registry.add_kernel(
        name.second, {.since = entry.since, .domain = name.first},
        [&translate = entry.translate](PlanContext& context) {
          return std::make_unique<TensorFlowKernel>(context, translate);
        },
        takes);
  }
}

const Translator* Translators::find(const onnx::Node& node) const {
  const auto entry = entries_.find({node.domain, node.op_type});
  return entry == entries_.end() ? nullptr : &entry->second.translate;
}

}  // namespace d5::tensorflow
