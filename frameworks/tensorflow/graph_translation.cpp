// SPDX-License-Identifier: Apache-2.0
#include "graph_translation.hpp"

#include "d5/core/errors/error.hpp"

namespace d5::tensorflow {

GraphTranslation::GraphTranslation(const onnx::Graph& graph, const Translators& translators,
                                   bool differentiable)
    : walk_(graph, {.mode = differentiable ? Mode::training : Mode::inference,
                    .differentiable = differentiable}) {
  for (const onnx::ValueInfo& input : graph.inputs) {
    inputs_.push_back(graph_.placeholder(walk_.desc(input.name)));
    terms_[input.name] = inputs_.back();
  }
  walk_.visit([&](const PlanContext& node) { add_node(node, translators); });
}

void GraphTranslation::add_node(const PlanContext& context, const Translators& translators) {
  const onnx::Node& node = context.node();
  const Translator* const translate = translators.find(node);
  if (!translate) throw Unsupported(context.who() + ": TensorFlow has no translation of it");
  if (const Support support = takes(context); !support) {
    throw Unsupported(context.who() + ": TensorFlow does not take " + support.reason);
  }
  Terms inputs(node.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (node.has_input(i)) inputs[i] = term(node.inputs[i]);
  }
  graph_.set_who(context.who());
  const Terms results = (*translate)(context, graph_, inputs);
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.has_output(k)) continue;
    if (k >= results.size() || !is_there(results[k])) {
      throw Unsupported(context.who() + ": TensorFlow's kernel gives no output " +
                        std::to_string(k));
    }
    terms_[node.outputs[k]] = results[k];
  }
}

Term GraphTranslation::term(const std::string& name) {
  const auto [place, fresh] = terms_.try_emplace(name);
  if (!fresh) return place->second;
  const Value* constant = walk_.constant(name);
  if (!constant) throw NotFound("no tensor is called '" + printable(name) + "'");
  return place->second = graph_.constant(constant->tensor());
}

}  // namespace d5::tensorflow
