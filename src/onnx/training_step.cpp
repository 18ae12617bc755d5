// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/training_step.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "onnx/remainder.hpp"
#include "onnx/stages.hpp"
#include "onnx/tensor_proto.hpp"
#include "onnx/write_graph.hpp"

namespace d5::onnx {
namespace {

using Bindings = std::map<std::string, std::string>;

/// Appends the algorithm's graph to the model's, list by list.
void combine(::onnx::GraphProto& graph, ::onnx::GraphProto& algorithm) {
  const auto append = [](auto& to, auto& from) {
    for (auto& one : from) to.Add()->Swap(&one);
  };
  append(*graph.mutable_node(), *algorithm.mutable_node());
  append(*graph.mutable_input(), *algorithm.mutable_input());
  append(*graph.mutable_output(), *algorithm.mutable_output());
  append(*graph.mutable_initializer(), *algorithm.mutable_initializer());
  append(*graph.mutable_sparse_initializer(), *algorithm.mutable_sparse_initializer());
  append(*graph.mutable_value_info(), *algorithm.mutable_value_info());
}

const ::onnx::TrainingInfoProto& only_step(const ::onnx::ModelProto& proto,
                                           const detail::Source& source) {
  const ::onnx::TrainingInfoProto* found = nullptr;
  for (const auto& info : proto.training_info()) {
    if (info.algorithm().node().empty()) continue;
    if (found) {
      source.refuse("it has several training algorithms, expected one");
    }
    found = &info;
  }
  if (!found) {
    source.fail(
        "it has no training information with an algorithm; a model alone is trained by `d5 train "
        "--model-file`, and StepGraph saves a step");
  }
  return *found;
}

Bindings bindings_of(const ::onnx::TrainingInfoProto& info, const detail::Source& source) {
  Bindings result;
  for (const auto& entry : info.update_binding()) {
    if (result.emplace(entry.key(), entry.value()).second) continue;
    source.fail(fmt::format("its training information binds '{}' twice", printable(entry.key())));
  }
  return result;
}

void check_bindings(const Bindings& bindings, const Graph& graph, const detail::Source& source) {
  std::set<std::string_view> outputs;
  for (const ValueInfo& output : graph.outputs) outputs.insert(output.name);
  for (const auto& [initializer, output] : bindings) {
    if (graph.initializers.contains(initializer) && outputs.contains(output)) continue;
    source.fail(fmt::format(
        "its training information puts '{}' in the place of '{}', expected the name of an output "
        "of the model or the algorithm, and that of an initializer; there is no such {}",
        printable(output), printable(initializer),
        outputs.contains(output) ? "initializer" : "output"));
  }
}

}  // namespace

TrainingStep load_training_step(const std::string& path, const LoadOptions& options) {
  const std::string bytes = read_file(path, options.most_file_bytes);
  const auto folder = std::filesystem::path(path).parent_path();
  detail::Source source{path, folder.empty() ? "." : folder.string(), options.interrupt};
  ::onnx::ModelProto proto;
  detail::parse_message(std::as_bytes(std::span(bytes)), source, proto);
  ::onnx::TrainingInfoProto info = only_step(proto, source);
  TrainingStep step;
  step.update_binding = bindings_of(info, source);
  proto.clear_training_info();
  step.inference = detail::read_model(proto, source, options);
  combine(*proto.mutable_graph(), *info.mutable_algorithm());
  step.whole = detail::read_model(std::move(proto), source, options).model;
  check_bindings(step.update_binding, step.whole.graph, source);
  return step;
}

void set_training_info(ModelFile& file, const TrainingInfo& info) {
  Remainder::Content content;
  if (file.remainder.content()) content = *file.remainder.content();
  content.message.clear_training_info();
  auto& proto = *content.message.add_training_info();
  detail::write_graph(info.algorithm, *proto.mutable_algorithm(), detail::write_tensor);
  for (const auto& [initializer, output] : info.update_binding) {
    auto& entry = *proto.add_update_binding();
    entry.set_key(initializer);
    entry.set_value(output);
  }
  file.remainder = Remainder(std::make_shared<const Remainder::Content>(std::move(content)));
}

}  // namespace d5::onnx
