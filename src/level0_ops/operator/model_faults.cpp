// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/model_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/visitor.hpp"
#include "onnx/tensor_type.hpp"

namespace d5 {
namespace {

/// The leading numbers of a version.
std::vector<std::int64_t> numbers_of(std::string_view version) {
  std::vector<std::int64_t> numbers;
  while (!version.empty()) {
    std::int64_t number = 0;
    const char* end = version.data() + version.size();
    const auto [rest, error] = std::from_chars(version.data(), end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    if (rest == end || *rest != '.') break;
    version.remove_prefix(std::size_t(rest - version.data()) + 1);
  }
  return numbers;
}

bool is_fixed(const ModelFault& fault, std::string_view version) {
  return !fault.fixed_in.empty() && numbers_of(version) >= numbers_of(fault.fixed_in);
}

class Search {
 public:
  Search(const onnx::Model& model, std::string_view framework)
      : model_(model), framework_(framework) {}

  void look(const onnx::Node& node, const ModelFault& fault) {
    const KnownNode known{.node = node,
                          .type = [&](std::size_t i) { return type(node, i); },
                          .constant = [&](std::size_t i) { return constant(node, i); }};
    const std::string what = fault.find(known);
    if (what.empty()) return;
    throw Unsupported(
        fmt::format("{}: {} does not support {}{}", onnx::describe(node), framework_, what,
                    fault.fixed_in.empty() ? "" : fmt::format("; {} does", fault.fixed_in)));
  }

 private:
  onnx::Type type(const onnx::Node& node, std::size_t i) {
    if (!node.has_input(i)) return {};
    if (const Tensor* known = constant(node, i)) return tensor_type(known->desc());
    if (!types_) types_ = onnx::types_of(model_);  // only if a row needs them
    const auto found = types_->find(node.inputs[i]);
    return found == types_->end() ? onnx::Type() : found->second;
  }
  const Tensor* constant(const onnx::Node& node, std::size_t i) const {
    if (!node.has_input(i)) return nullptr;
    const auto& initializers = model_.graph.initializers;
    const auto found = initializers.find(node.inputs[i]);
    if (found != initializers.end()) return &found->second;
    const auto is_it = [&](const onnx::Node& other) {
      return other.op_type == "Constant" && other.outputs.front() == node.inputs[i];
    };
    const auto maker = std::ranges::find_if(model_.graph.nodes, is_it);
    return maker == model_.graph.nodes.end() ? nullptr : maker->attribute<Tensor>("value");
  }

  const onnx::Model& model_;
  std::string_view framework_;
  std::optional<std::map<std::string, onnx::Type, std::less<>>> types_;
};

}  // namespace

void expect_no_fault(const onnx::Model& model, std::span<const ModelFault> faults,
                     std::string_view framework, std::string_view version) {
  Search search(model, framework);
  onnx::Visitor visitor;
  visitor.otherwise([&](const onnx::Node& node) {
    for (const ModelFault& fault : faults) {
      if (fault.op_type != node.op_type || is_fixed(fault, version)) continue;
      search.look(node, fault);
    }
  });
  visitor.visit(model.graph);
}

}  // namespace d5
