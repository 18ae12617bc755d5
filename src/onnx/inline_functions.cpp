// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/common/proto_util.h>
#include <onnx/inliner/inliner.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "d5/core/errors/error.hpp"
#include "onnx/stages.hpp"
#include "onnx/walk.hpp"

namespace d5::onnx::detail {
namespace {

/// ONNX's inliner requires that functions import the same versions as the model. A function with
/// other imports is accepted if its operators did not change in between.
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

/// ONNX's inliner selects functions by domain and name only, so the overload becomes a part of the
/// name, in the form of the id that `check_expansion` uses.
void name_overloads(::onnx::ModelProto& model) {
  const auto name_whole = [](std::string* name, std::string* overload) {
    if (!overload->empty()) *name += "::" + *overload;
    overload->clear();
  };
  const auto name_callee = [&](::onnx::NodeProto& node, int) {
    name_whole(node.mutable_op_type(), node.mutable_overload());
  };
  for_each_node(*model.mutable_graph(), name_callee);
  for (auto& function : *model.mutable_functions()) {
    name_whole(function.mutable_name(), function.mutable_overload());
    for_each_node(function, name_callee);
  }
}

/// The functions that no other function calls.
::onnx::inliner::FunctionIdVector outermost(const ::onnx::ModelProto& model) {
  std::set<std::string> called;
  for (const auto& function : model.functions()) {
    for_each_node(function, [&](const ::onnx::NodeProto& node, int) {
      called.insert(::onnx::GetCalleeId(node));
    });
  }
  ::onnx::inliner::FunctionIdVector result;
  for (const auto& function : model.functions()) {
    if (called.contains(::onnx::GetFunctionImplId(function))) continue;
    result.emplace_back(function.domain(), function.name());
  }
  return result;
}

bool has_attribute(const ::onnx::NodeProto& node, const std::string& name) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [&](const auto& attribute) { return attribute.name() == name; });
}

/// Adds default attributes of functions to the calls that omit them, because the inliner does not
/// support defaults.
void give_defaults(::onnx::ModelProto& model) {
  std::unordered_map<std::string, const ::onnx::FunctionProto*> functions;
  for (const auto& function : model.functions()) {
    functions[::onnx::GetFunctionImplId(function)] = &function;
  }
  for_each_node(*model.mutable_graph(), [&](::onnx::NodeProto& node, int) {
    const auto callee = functions.find(::onnx::GetCalleeId(node));
    if (callee == functions.end()) return;
    for (const auto& attribute : callee->second->attribute_proto()) {
      if (!has_attribute(node, attribute.name())) *node.add_attribute() = attribute;
    }
  });
}

}  // namespace

void inline_functions(::onnx::ModelProto& model, const Source& source) {
  if (model.functions_size() == 0) return;
  align_versions(model, source);
  name_overloads(model);
  try {
    // Callers first: the attributes of a call inside a function depend on the function's own
    // attributes.
    while (model.functions_size() > 0) {
      give_defaults(model);
      ::onnx::inliner::InlineSelectedLocalFunctions(
          model, *::onnx::inliner::FunctionIdSet::Create(outermost(model)));
    }
  } catch (const std::exception& error) {
    source.fail("its functions cannot be inlined", error);
  }
  // Checks the inlined graph like a written one.
  check_graph(model, source);
}

}  // namespace d5::onnx::detail
