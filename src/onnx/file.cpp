// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/version.hpp"
#include "onnx/data_file.hpp"
#include "onnx/remainder.hpp"
#include "onnx/stages.hpp"
#include "onnx/tensor_proto.hpp"
#include "onnx/write_graph.hpp"

namespace d5::onnx {
namespace {

/// The first IR version with opset imports, and the first in which initializers need not be inputs.
constexpr std::int64_t kFirstWithImports = 3, kFirstWithoutInputs = 4;

void read_header(const ::onnx::ModelProto& proto, Model& model) {
  model.ir_version = proto.ir_version();
  model.producer_name = proto.producer_name();
  model.producer_version = proto.producer_version();
  model.domain = proto.domain();
  model.doc = proto.doc_string();
  model.model_version = proto.model_version();
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();
}

}  // namespace

ModelFile detail::read_model(::onnx::ModelProto proto, Source& source, const LoadOptions& options) {
  detail::check_versions(proto, source);
  detail::check_expansion(proto, options, source);
  detail::fill_gaps(proto, source);
  detail::order_nodes(proto);
  detail::check_graph(proto, source);
  source.go_on();
  detail::inline_functions(proto, source);
  detail::check_attributes(proto, source);
  if (options.infer_shapes) detail::infer_types(proto, source);
  ModelFile file;
  // Checked again, because functions add the imports of their bodies.
  file.model.opset_imports = detail::check_versions(proto, source);
  read_header(proto, file.model);
  file.model.graph = detail::read_graph(*proto.mutable_graph(), file.model.opset_imports, source);
  detail::strip(proto);
  file.remainder =
      Remainder(std::make_shared<const Remainder::Content>(Remainder::Content{std::move(proto)}));
  return file;
}

namespace {

ModelFile read_model(std::span<const std::byte> bytes, detail::Source& source,
                     const LoadOptions& options) {
  source.go_on();
  ::onnx::ModelProto proto;
  detail::parse_message(bytes, source, proto);
  source.go_on();
  return detail::read_model(std::move(proto), source, options);
}

/// Types that ONNX's rules cannot infer must be declared.
void expect_types_of_outputs(const ::onnx::GraphProto& graph) {
  for (const auto& output : graph.output()) {
    if (output.type().value_case() != ::onnx::TypeProto::VALUE_NOT_SET) continue;
    throw Unsupported(fmt::format(
        "model '{}': a file must declare the type of output '{}', and ONNX's rules cannot infer "
        "it, because of an operator that ONNX does not have; give all inputs fixed sizes",
        printable(graph.name()), printable(output.name())));
  }
}

/// Whether each initializer is an input of its graph, including nested graphs.
bool all_are_inputs(const ::onnx::GraphProto& graph) {
  std::set<std::string_view> inputs;
  for (const auto& input : graph.input()) inputs.insert(input.name());
  const auto is_input = [&](const auto& tensor) { return inputs.contains(tensor.name()); };
  const auto is_fine = [](const ::onnx::NodeProto& node) {
    return std::ranges::all_of(node.attribute(), [](const auto& attribute) {
      return (!attribute.has_g() || all_are_inputs(attribute.g())) &&
             std::ranges::all_of(attribute.graphs(), all_are_inputs);
    });
  };
  return std::ranges::all_of(graph.initializer(), is_input) &&
         std::ranges::all_of(graph.node(), is_fine);
}

std::int64_t ir_version_of(const Model& model, const ::onnx::GraphProto& graph) {
  return std::max(model.ir_version,
                  all_are_inputs(graph) ? kFirstWithImports : kFirstWithoutInputs);
}

void write_header(const Model& model, ::onnx::ModelProto& proto) {
  const bool own = model.producer_name.empty();  // made by d5; a file keeps its producer
  proto.set_producer_name(own ? "d5" : model.producer_name);
  proto.set_producer_version(own ? D5_VERSION : model.producer_version);
  if (!model.domain.empty()) proto.set_domain(model.domain);
  if (model.model_version != 0) proto.set_model_version(model.model_version);
  if (!model.doc.empty()) proto.set_doc_string(model.doc);
  for (const auto& [domain, version] : model.opset_imports) {
    auto& import = *proto.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  for (const auto& [key, value] : model.metadata) {
    auto& entry = *proto.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
}

::onnx::ModelProto message_of(const Model& model, const Remainder& remainder,
                              const detail::WriteInitializer& write) {
  ::onnx::ModelProto proto;
  if (remainder.content()) proto = remainder.content()->message;
  write_header(model, proto);
  detail::write_graph(model.graph, *proto.mutable_graph(), write);
  proto.set_ir_version(ir_version_of(model, proto.graph()));
  const auto& outputs = model.graph.outputs;
  if (std::any_of(outputs.begin(), outputs.end(),
                  [](const ValueInfo& output) { return output.type.kind == ValueKind::none; })) {
    detail::infer_types(proto,
                        {printable(model.graph.name),
                         std::nullopt});  // required in a file, optional in a network built by code
    expect_types_of_outputs(proto.graph());
  }
  return proto;
}

std::string bytes_of(const ::onnx::ModelProto& proto, std::size_t most) {
  const std::size_t bytes = proto.ByteSizeLong();
  if (bytes > most) {
    throw Unsupported(fmt::format(
        "model '{}' takes {} bytes, but a protobuf message holds at most {}; save it into a file "
        "with its tensors as external data",
        printable(proto.graph().name()), bytes, most));
  }
  return proto.SerializeAsString();
}

std::string serialize(const Model& model, const Remainder& remainder) {
  return bytes_of(message_of(model, remainder, detail::write_tensor),
                  SaveOptions{}.most_message_bytes);
}

void save(const Model& model, const Remainder& remainder, const std::string& path,
          const SaveOptions& options) {
  if (!detail::needs_data_file(model.graph, options)) {
    const auto proto = message_of(model, remainder, detail::write_tensor);
    if (proto.ByteSizeLong() <= options.most_message_bytes) {
      return write_file(path, proto.SerializeAsString());
    }
  }
  detail::DataFile data(path + ".data", options.least_external_bytes);
  const auto proto = message_of(model, remainder,
                                [&](const Tensor& tensor, const std::string& name,
                                    ::onnx::TensorProto& to) { data.write(tensor, name, to); });
  ReplacedFile file(path);
  file.write(bytes_of(proto, options.most_message_bytes));
  data.commit();
  file.commit();
}

}  // namespace

ModelFile load_file(const std::string& path, const LoadOptions& options) {
  const std::string bytes = read_file(path, options.most_file_bytes);
  const auto folder = std::filesystem::path(path).parent_path();
  detail::Source source{path, folder.empty() ? "." : folder.string(), options.interrupt};
  return read_model(std::as_bytes(std::span(bytes)), source, options);
}

ModelFile parse_file(std::span<const std::byte> bytes, const std::string& file,
                     const LoadOptions& options) {
  detail::Source source{file, std::nullopt, options.interrupt};
  if (bytes.size() > options.most_file_bytes) {
    source.fail(fmt::format("it has {} bytes, expected at most {} (LoadOptions::most_file_bytes)",
                            bytes.size(), options.most_file_bytes));
  }
  return read_model(bytes, source, options);
}

Model load(const std::string& path, const LoadOptions& options) {
  return load_file(path, options).model;
}
Model parse(std::span<const std::byte> bytes, const std::string& file, const LoadOptions& options) {
  return parse_file(bytes, file, options).model;
}

void save(const Model& model, const std::string& path, const SaveOptions& options) {
  save(model, {}, path, options);
}
void save(const ModelFile& file, const std::string& path, const SaveOptions& options) {
  save(file.model, file.remainder, path, options);
}
std::string serialize(const Model& model) { return serialize(model, {}); }
std::string serialize(const ModelFile& file) { return serialize(file.model, file.remainder); }

}  // namespace d5::onnx
