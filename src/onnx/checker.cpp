// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <onnx/checker.h>

#include <set>
#include <unordered_map>

#include "d5/core/error.hpp"
#include "onnx/contrib_schemas.hpp"
#include "onnx/stages.hpp"

namespace d5::onnx::detail {
namespace {

void check_names(const ::onnx::ModelProto& model, const Source& source) {
  if (!model.has_graph()) source.fail("it has no graph");
  std::set<std::string_view> outputs;
  for (const auto& output : model.graph().output()) {
    if (!outputs.insert(output.name()).second) {
      source.fail(fmt::format("output '{}' is listed twice", printable(output.name())));
    }
  }
}

}  // namespace

void run_checker(const ::onnx::ModelProto& model, const Source& source) {
  add_contrib_schemas();
  check_names(model, source);
  // As onnx::checker::check_model does, but with the folder that external data may lie in.
  ::onnx::checker::CheckerContext context;
  context.set_ir_version(int(model.ir_version()));
  context.set_model_dir(source.folder.value_or(""));
  std::unordered_map<std::string, int> opsets;
  for (const auto& import : model.opset_import()) {
    opsets[import.domain()] = int(import.version());
  }
  if (opsets.empty() && model.ir_version() < 3) opsets[""] = 1;
  context.set_opset_imports(std::move(opsets));
  const ::onnx::checker::LexicalScopeContext scope;
  try {
    ::onnx::checker::check_graph(model.graph(), context, scope);
    ::onnx::checker::check_model_local_functions(model, context, scope);
  } catch (const std::exception& error) {
    source.fail("ONNX's checker refuses it", error);
  }
}

}  // namespace d5::onnx::detail
