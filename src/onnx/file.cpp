// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/version.hpp"
#include "onnx/stages.hpp"
#include "onnx/write_graph.hpp"

namespace d5::onnx {
namespace {

/// IR version 4 is the first in which an initializer need not be an input.
constexpr std::int64_t kOldestWritten = 4;

void read_header(const ::onnx::ModelProto& proto, Model& model) {
  model.ir_version = proto.ir_version();
  model.producer_name = proto.producer_name();
  model.producer_version = proto.producer_version();
  model.domain = proto.domain();
  model.doc = proto.doc_string();
  model.model_version = proto.model_version();
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();
}

Model read_model(std::span<const std::byte> bytes, detail::Source& source,
                 const LoadOptions& options) {
  source.go_on();
  ::onnx::ModelProto proto;
  detail::parse_message(bytes, source, proto);
  source.go_on();
  detail::check_versions(proto, source);
  detail::check_expansion(proto, options, source);
  detail::run_checker(proto, source);
  source.go_on();
  detail::inline_functions(proto, source);
  detail::check_attributes(proto, source);
  if (options.infer_shapes) detail::infer_types(proto, source);
  Model model;
  // Asked again: functions bring the imports that their bodies need.
  model.opset_imports = detail::check_versions(proto, source);
  read_header(proto, model);
  model.graph = detail::read_graph(*proto.mutable_graph(), model.opset_imports, source);
  return model;
}

/// What ONNX's rules cannot tell, whoever built the network must.
void expect_types_of_outputs(const ::onnx::GraphProto& graph) {
  for (const auto& output : graph.output()) {
    if (output.type().value_case() != ::onnx::TypeProto::VALUE_NOT_SET) continue;
    throw Unsupported(fmt::format(
        "model '{}': a file must declare the type of output '{}', and ONNX's rules do not tell it: "
        "an "
        "operator that ONNX does not have stands before it; give all inputs fixed sizes",
        printable(graph.name()), printable(output.name())));
  }
}

}  // namespace

Model load(const std::string& path, const LoadOptions& options) {
  const std::string bytes = read_file(path, options.most_file_bytes);
  const auto folder = std::filesystem::path(path).parent_path();
  detail::Source source{path, folder.empty() ? "." : folder.string(), options.interrupt};
  return read_model(std::as_bytes(std::span(bytes)), source, options);
}

Model parse(std::span<const std::byte> bytes, const std::string& file, const LoadOptions& options) {
  detail::Source source{file, std::nullopt, options.interrupt};
  if (bytes.size() > options.most_file_bytes) {
    source.fail(fmt::format("it has {} bytes, expected at most {} (LoadOptions::most_file_bytes)",
                            bytes.size(), options.most_file_bytes));
  }
  return read_model(bytes, source, options);
}

std::string serialize(const Model& model) {
  ::onnx::ModelProto proto;
  proto.set_ir_version(std::max(model.ir_version, kOldestWritten));
  const bool own = model.producer_name.empty();  // made here; of a file, who made it stays
  proto.set_producer_name(own ? "d5" : model.producer_name);
  proto.set_producer_version(own ? D5_VERSION : model.producer_version);
  proto.set_domain(model.domain);
  proto.set_model_version(model.model_version);
  proto.set_doc_string(model.doc);
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
  detail::write_graph(model.graph, *proto.mutable_graph());
  const auto& outputs = model.graph.outputs;
  if (std::any_of(outputs.begin(), outputs.end(),
                  [](const ValueInfo& output) { return output.type.kind == ValueKind::none; })) {
    detail::infer_types(
        proto, {printable(model.graph.name),
                std::nullopt});  // a file must declare them; a network built by code need not
    expect_types_of_outputs(proto.graph());
  }
  if (proto.ByteSizeLong() > std::size_t(std::numeric_limits<int>::max())) {
    throw Unsupported(
        fmt::format("model '{}' takes {} bytes, but a protobuf message holds at most "
                    "2^31 - 1",
                    printable(model.graph.name), proto.ByteSizeLong()));
  }
  return proto.SerializeAsString();
}

void save(const Model& model, const std::string& path) { write_file(path, serialize(model)); }

}  // namespace d5::onnx
