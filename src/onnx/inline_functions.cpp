// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/inliner/inliner.h>

#include <unordered_map>

#include "d5/core/error.hpp"
#include "onnx/stages.hpp"
#include "onnx/walk.hpp"

namespace d5::onnx::detail {
namespace {

/// The inliner takes functions that import the same versions as the model. A function that imports
/// others may still mean the same: its operators may not have changed in between.
void align_versions(::onnx::ModelProto& model, const Source& source) {
  std::unordered_map<std::string, int> versions;
  for (const auto& import : model.opset_import()) {
    versions[import.domain()] = int(import.version());
  }
  for (const auto& function : model.functions()) {
    for (const auto& import : function.opset_import()) {
      if (!versions.emplace(import.domain(), int(import.version())).second) continue;
      *model.add_opset_import() = import;
    }
  }
  ::onnx::checker::CheckerContext context;
  for (auto& function : *model.mutable_functions()) {
    std::unordered_map<std::string, int> own;
    for (const auto& import : function.opset_import()) own[import.domain()] = int(import.version());
    try {
      for_each_node(function, [&](const ::onnx::NodeProto& node, int) {
        ::onnx::checker::check_opset_compatibility(node, context, own, versions);
      });
    } catch (const std::exception& error) {
      source.refuse(
          fmt::format("function '{}' imports other opset versions than the model, and its "
                      "operators changed in between; convert it: {}",
                      printable(function.name()), one_line(error.what())));
    }
    for (auto& import : *function.mutable_opset_import()) {
      import.set_version(versions[import.domain()]);
    }
  }
}

}  // namespace

void inline_functions(::onnx::ModelProto& model, const Source& source) {
  if (model.functions_size() == 0) return;
  align_versions(model, source);
  try {
    ::onnx::inliner::InlineLocalFunctions(model);
  } catch (const std::exception& error) {
    source.fail("its functions cannot be inlined", error);
  }
  if (model.functions_size() > 0) {
    source.fail(
        fmt::format("function '{}' cannot be inlined", printable(model.functions(0).name())));
  }
  // What the functions' bodies became is checked as if it had been written so.
  run_checker(model, source);
}

}  // namespace d5::onnx::detail
