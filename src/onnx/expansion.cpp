// SPDX-License-Identifier: Apache-2.0
// A file of a kilobyte can expand to 9^9 nodes: nine functions, each of which calls the next nine
// times. The expanded size is computed bottom-up, once per function, before anything is expanded.
#include <fmt/format.h>
#include <onnx/common/proto_util.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "onnx/stages.hpp"

namespace d5::onnx::detail {
namespace {

constexpr int kMostCallDepth = 100;

/// Size of a list of nodes after expansion, in saturating arithmetic.
struct Expansion {
  std::uint64_t nodes = 0;
  std::uint64_t bytes = 0;       ///< bytes of the nodes themselves in the file
  std::uint64_t names = 0;       ///< number of inputs and outputs, each of which may be renamed
  std::uint64_t references = 0;  ///< number of references to the caller's attributes
  int nesting = 0;
};

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result;
  return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}

void add(Expansion& to, const Expansion& other) {
  to.nodes = plus(to.nodes, other.nodes);
  to.bytes = plus(to.bytes, other.bytes);
  to.names = plus(to.names, other.names);
  to.references = plus(to.references, other.references);
  to.nesting = std::max(to.nesting, other.nesting);
}

class Counter {
 public:
  Counter(const ::onnx::ModelProto& model, const Source& source) : source_(source) {
    for (const auto& function : model.functions()) {
      const auto id = ::onnx::GetFunctionImplId(function);
      if (!functions_.emplace(id, Function{&function}).second) {
        source.fail(fmt::format("function '{}' is defined twice", printable(id)));
      }
      for (const auto& attribute : function.attribute_proto()) {
        count_argument(attribute, "the default", function.name());
      }
    }
  }

  Expansion count(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, int depth) {
    Expansion result;
    for (const auto& node : nodes) add(result, count(node, depth));
    return result;
  }

  /// The longest name and the largest attribute that inlining copies.
  std::uint64_t longest_name = 0, largest_argument = 0;

 private:
  struct Function {
    const ::onnx::FunctionProto* proto;
    enum { unseen, open, done } state = unseen;
    Expansion expansion = {};
  };

  void count_argument(const ::onnx::AttributeProto& attribute, const std::string& who,
                      const std::string& function) {
    if (attribute.has_g() || attribute.graphs_size() > 0) {
      source_.refuse(fmt::format("{} passes a graph to function '{}'; only values can be passed",
                                 who, printable(function)));
    }
    largest_argument = std::max<std::uint64_t>(largest_argument, attribute.ByteSizeLong());
  }

  Expansion count(const ::onnx::NodeProto& node, int depth) {
    for (const auto& name : node.input()) longest_name = std::max(longest_name, name.size());
    for (const auto& name : node.output()) longest_name = std::max(longest_name, name.size());
    if (const auto callee = functions_.find(::onnx::GetCalleeId(node));
        callee != functions_.end()) {
      for (const auto& attribute : node.attribute()) {
        count_argument(attribute, fmt::format("node '{}'", printable(node.name())), node.op_type());
      }
      Expansion result = count(callee->second, depth + 1);
      const auto defaults = std::uint64_t(callee->second.proto->attribute_proto_size());
      result.references = plus(result.references, defaults);
      return result;
    }
    Expansion result;
    result.nodes = 1;
    result.bytes = node.ByteSizeLong();
    result.names = std::uint64_t(node.input_size()) + std::uint64_t(node.output_size());
    for (const auto& attribute : node.attribute()) {
      if (!attribute.ref_attr_name().empty()) result.references = plus(result.references, 1);
      const auto count_graph = [&](const ::onnx::GraphProto& graph) {
        Expansion inner = count(graph.node(), depth);
        ++inner.nesting;
        add(result, inner);
      };
      if (attribute.has_g()) count_graph(attribute.g());
      for (const auto& graph : attribute.graphs()) count_graph(graph);
    }
    return result;
  }

  Expansion count(Function& function, int depth) {
    if (function.state == Function::done) return function.expansion;
    const std::string name = printable(function.proto->name());
    if (function.state == Function::open) {
      source_.fail(
          fmt::format("function '{}' calls itself, directly or through others; functions "
                      "must not be recursive",
                      name));
    }
    if (depth > kMostCallDepth) {
      source_.fail(
          fmt::format("function '{}' is called through more than {} others", name, kMostCallDepth));
    }
    function.state = Function::open;
    function.expansion = count(function.proto->node(), depth);
    function.state = Function::done;
    return function.expansion;
  }

  const Source& source_;
  std::unordered_map<std::string, Function> functions_;
};

}  // namespace

void check_expansion(const ::onnx::ModelProto& model, const LoadOptions& options,
                     const Source& source) {
  Counter counter(model, source);
  const Expansion whole = counter.count(model.graph().node(), 0);
  if (whole.nodes > options.most_expanded_nodes) {
    source.fail(
        fmt::format("it has {} nodes with its functions expanded, expected at most {} "
                    "(LoadOptions::most_expanded_nodes)",
                    whole.nodes, options.most_expanded_nodes));
  }
  if (whole.nesting > options.most_nesting) {
    source.fail(
        fmt::format("its subgraphs nest {} deep, expected at most {} "
                    "(LoadOptions::most_nesting)",
                    whole.nesting, options.most_nesting));
  }
  if (model.functions_size() == 0) return;
  const std::uint64_t bytes =
      plus(whole.bytes, plus(times(whole.names, counter.longest_name),
                             times(whole.references, counter.largest_argument)));
  if (bytes > memory_budget()) {
    throw MemoryError(
        fmt::format("'{}': its functions may take {} bytes when expanded, more than "
                    "the memory budget of {}",
                    printable(source.file), bytes, memory_budget()));
  }
}

}  // namespace d5::onnx::detail
