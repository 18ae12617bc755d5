// SPDX-License-Identifier: Apache-2.0
// Requirements for an unambiguous graph: single assignment, before the first use; inputs, outputs
// and attributes as in the node's schema; data that matches a tensor's dimensions. ONNX's checker
// also requires parts that do not change the meaning (names of graphs, declared shapes, files that
// are not links); `fill_gaps` notes those.
#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/common/proto_util.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "d5/core/errors/error.hpp"
#include "onnx/contrib_schemas.hpp"
#include "onnx/external_data.hpp"
#include "onnx/stages.hpp"

namespace d5::onnx::detail {
namespace {

using ::onnx::AttributeProto;
using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;
using Opsets = std::unordered_map<std::string, int>;

/// The names assigned so far in a graph and its enclosing graphs.
class Scope {
 public:
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}
  /// Adds a name; false if it exists.
  bool add(std::string_view name) { return names_.insert(name).second; }
  [[nodiscard]] bool has_own(std::string_view name) const { return names_.contains(name); }
  [[nodiscard]] bool has(std::string_view name) const {
    return has_own(name) || (outer_ && outer_->has(name));
  }

 private:
  const Scope* outer_;
  std::unordered_set<std::string_view> names_;
};

std::string name_in(const ::onnx::NodeProto& node) {
  const bool named = !node.name().empty() || node.output().empty();
  return fmt::format("{} '{}'", printable(node.op_type()),
                     printable(named ? node.name() : node.output(0)));
}

std::string domain_words(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : printable(domain);
}

template <class Imports>
Opsets opsets_of(const Imports& imports) {
  Opsets result;
  for (const auto& import : imports) result[import.domain()] = int(import.version());
  return result;
}

/// Whether ONNX defines all operators of the domain.
bool is_complete(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx.ml" || domain == "ai.onnx.preview.training";
}

class GraphCheck {
 public:
  GraphCheck(const ::onnx::ModelProto& model, const Source& source)
      : model_(model), source_(source) {
    context_.set_ir_version(int(model.ir_version()));
    for (const auto& function : model.functions()) {
      functions_.insert(::onnx::GetFunctionImplId(function));
    }
  }

  void run() const {
    Opsets opsets = opsets_of(model_.opset_import());
    if (opsets.empty() && model_.ir_version() < 3) opsets[""] = 1;
    check(model_.graph(), nullptr, opsets);
    for (const auto& function : model_.functions()) check(function);
  }

 private:
  void check(const ::onnx::GraphProto& graph, const Scope* outer, const Opsets& opsets) const {
    Scope scope(outer);
    for (const auto& input : graph.input()) {
      if (input.name().empty()) source_.fail("an input of its graph has no name");
      if (!scope.add(input.name())) {
        source_.fail(fmt::format("input '{}' is listed twice", printable(input.name())));
      }
    }
    std::set<std::string_view> initializers;
    const auto add = [&](const std::string& name) {
      if (!initializers.insert(name).second) {
        source_.fail(
            fmt::format("initializer '{}' is defined twice, with different data", printable(name)));
      }
      scope.add(name);
    };
    for (const auto& tensor : graph.initializer()) {
      check(tensor);
      add(tensor.name());
    }
    for (const auto& sparse : graph.sparse_initializer()) {
      check(sparse);
      add(sparse.values().name());
    }
    check(graph.node(), scope, opsets);
    for (const auto& output : graph.output()) {
      if (scope.has_own(output.name())) continue;
      source_.fail(fmt::format("output '{}' of graph '{}' is written by none of its nodes",
                               printable(output.name()), printable(graph.name())));
    }
  }

  void check(const ::onnx::FunctionProto& function) const {
    const auto fail = [&](const std::string& what) {
      source_.fail(fmt::format("function '{}' {}", printable(function.name()), what));
    };
    const auto once = [&](const auto& names, const char* what) {
      std::set<std::string_view> seen;
      for (const std::string& name : names) {
        if (!seen.insert(name).second) {
          fail(fmt::format("has {} '{}' twice", what, printable(name)));
        }
      }
    };
    if (function.name().empty()) fail("has no name");
    once(function.input(), "input");
    once(function.output(), "output");
    once(function.attribute(), "attribute");
    Scope scope;
    for (const std::string& name : function.input()) scope.add(name);
    check(function.node(), scope, opsets_of(function.opset_import()));
  }

  void check(const Nodes& nodes, Scope& scope, const Opsets& opsets) const {
    for (const auto& node : nodes) {
      for (const std::string& input : node.input()) {
        if (!input.empty() && !scope.has(input)) fail_unwritten(node, input, nodes);
      }
      check(node, scope, opsets);
      for (const std::string& output : node.output()) {
        if (output.empty()) continue;
        if (scope.has(output)) {
          source_.fail(fmt::format("{} writes '{}', which exists already: a name is assigned once",
                                   name_in(node), printable(output)));
        }
        scope.add(output);
      }
    }
  }

  [[noreturn]] void fail_unwritten(const ::onnx::NodeProto& node, const std::string& input,
                                   const Nodes& nodes) const {
    const bool is_written = std::ranges::any_of(nodes, [&](const auto& other) {
      return std::ranges::find(other.output(), input) != other.output().end();
    });
    source_.fail(
        fmt::format("{} reads '{}', {}", name_in(node), printable(input),
                    is_written ? "which a node writes that waits for it: they form a cycle"
                               : "which is not an input, an initializer, or the output of a node"));
  }

  void check(const ::onnx::NodeProto& node, const Scope& scope, const Opsets& opsets) const {
    if (node.op_type().empty()) source_.fail(fmt::format("node {} has no operator", name_in(node)));
    if (node.input().empty() && node.output().empty()) {
      source_.fail(fmt::format("{} has neither inputs nor outputs", name_in(node)));
    }
    const auto version = opsets.find(node.domain());
    if (version == opsets.end()) {
      source_.fail(fmt::format(
          "{}: the model imports no version of {}, and its operators mean different things in "
          "each; name the one that it was made for: onnx.helper.make_opsetid(\"{}\", VERSION)",
          name_in(node), domain_words(node.domain()), printable(node.domain())));
    }
    std::set<std::string_view> names;
    for (const auto& attribute : node.attribute()) {
      if (!names.insert(attribute.name()).second) {
        source_.fail(fmt::format("{}: attribute {} is given twice", name_in(node),
                                 printable(attribute.name())));
      }
      check(node, attribute, scope, opsets);
    }
    if (!functions_.contains(::onnx::GetCalleeId(node))) check_schema(node, version->second);
  }

  void check_schema(const ::onnx::NodeProto& node, int version) const {
    const auto* registry = ::onnx::OpSchemaRegistry::Instance();
    const auto* schema = registry->GetSchema(node.op_type(), version, node.domain());
    if (!schema) {
      if (!is_complete(node.domain())) return;  // a framework may know it
      source_.fail(fmt::format("{}: opset {} of {} has no such operator", name_in(node), version,
                               domain_words(node.domain())));
    }
    if (schema->Deprecated()) schema = &mended(node, *schema, version);
    try {
      schema->Verify(node);
    } catch (const std::exception& error) {
      source_.fail(name_in(node) + " is not as ONNX has it", error);
    }
  }

  /// The schema for a node whose own schema was deprecated. An operator that was published with a
  /// defect and corrected later (GroupNormalization) has a replacement; an older deprecated one has
  /// none.
  const ::onnx::OpSchema& mended(const ::onnx::NodeProto& node, const ::onnx::OpSchema& schema,
                                 int version) const {
    const auto* registry = ::onnx::OpSchemaRegistry::Instance();
    const auto* before =
        registry->GetSchema(node.op_type(), schema.since_version() - 1, node.domain());
    const auto* after = registry->GetSchema(node.op_type(), kNewestOpset, node.domain());
    if (before || !after || after->Deprecated()) {
      source_.fail(fmt::format("{}: opset {} of {} no longer has it", name_in(node), version,
                               domain_words(node.domain())));
    }
    source_.note(
        fmt::format("{} is of opset {}, whose definition ONNX replaced by that of opset {}; it "
                    "runs as in opset {}",
                    name_in(node), version, after->since_version(), version));
    return *after;
  }

  void check(const ::onnx::NodeProto& node, const AttributeProto& attribute, const Scope& scope,
             const Opsets& opsets) const {
    const auto fail = [&](const std::string& what) {
      source_.fail(
          fmt::format("{}: attribute '{}' {}", name_in(node), printable(attribute.name()), what));
    };
    if (attribute.name().empty()) fail("has no name");
    if (model_.ir_version() >= 2 && !attribute.has_type()) fail("has no type");
    const struct {
      bool is_filled;
      AttributeProto::AttributeType type;
    } fields[] = {{attribute.has_f(), AttributeProto::FLOAT},
                  {attribute.has_i(), AttributeProto::INT},
                  {attribute.has_s(), AttributeProto::STRING},
                  {attribute.has_t(), AttributeProto::TENSOR},
                  {attribute.has_g(), AttributeProto::GRAPH},
                  {attribute.has_tp(), AttributeProto::TYPE_PROTO},
                  {attribute.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR},
                  {attribute.floats_size() > 0, AttributeProto::FLOATS},
                  {attribute.ints_size() > 0, AttributeProto::INTS},
                  {attribute.strings_size() > 0, AttributeProto::STRINGS},
                  {attribute.tensors_size() > 0, AttributeProto::TENSORS},
                  {attribute.graphs_size() > 0, AttributeProto::GRAPHS},
                  {attribute.sparse_tensors_size() > 0, AttributeProto::SPARSE_TENSORS},
                  {attribute.type_protos_size() > 0, AttributeProto::TYPE_PROTOS}};
    int filled = attribute.ref_attr_name().empty() ? 0 : 1;
    for (const auto& field : fields) {
      if (!field.is_filled) continue;
      if (++filled > 1) fail("has several values");
      if (attribute.has_type() && attribute.type() != field.type) {
        fail("has a value of another type than declared");
      }
    }
    if (attribute.has_t()) check(attribute.t());
    for (const auto& tensor : attribute.tensors()) check(tensor);
    if (attribute.has_sparse_tensor()) check(attribute.sparse_tensor());
    for (const auto& tensor : attribute.sparse_tensors()) check(tensor);
    if (attribute.has_g()) check(attribute.g(), &scope, opsets);
    for (const auto& graph : attribute.graphs()) check(graph, &scope, opsets);
  }

  /// ONNX's shape rules trust a tensor's declared size, so a wrong one is refused here.
  template <class TensorProto>
  void check(const TensorProto& tensor) const {
    try {
      if constexpr (std::is_same_v<TensorProto, ::onnx::SparseTensorProto>) {
        ::onnx::checker::check_sparse_tensor(tensor, context_);
      } else if (!is_external(tensor)) {  // `ExternalData` checks those
        ::onnx::checker::check_tensor(tensor, context_);
      }
    } catch (const std::exception& error) {
      source_.fail("its data do not match their declaration", error);
    }
  }

  const ::onnx::ModelProto& model_;
  const Source& source_;
  ::onnx::checker::CheckerContext context_;
  std::unordered_set<std::string> functions_;
};

}  // namespace

void check_graph(const ::onnx::ModelProto& model, const Source& source) {
  add_contrib_schemas();
  try {
    ::onnx::checker::check_function_call_cycles(model);
  } catch (const std::exception& error) {
    source.fail("its functions cannot be inlined", error);
  }
  GraphCheck(model, source).run();
}

}  // namespace d5::onnx::detail
