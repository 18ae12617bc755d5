// SPDX-License-Identifier: Apache-2.0
// Calls ONNX's shape rules node by node. ONNX's driver (onnx::shape_inference::InferShapes) passes
// inferred types on unchecked: a negative size crashes GatherND's rule, a vector of 2^40 elements
// is counted element by element. Here every type is sanitized first, and a failing rule leaves only
// the outputs of its own node open.
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <unordered_map>

#include "d5/core/errors/error.hpp"
#include "onnx/contrib_schemas.hpp"
#include "onnx/stages.hpp"
#include "onnx/type_proto.hpp"

namespace d5::onnx::detail {
namespace {

using ::onnx::TypeProto;
namespace rules = ::onnx::shape_inference;

using Opsets = std::unordered_map<std::string, int>;
using TypesByName = std::unordered_map<std::string, TypeProto*>;

/// Whether GatherND's rule would begin before its lists.
bool begins_before_list(const ::onnx::AttributeProto& attribute) {
  return attribute.name() == "batch_dims" && attribute.i() < 0;
}

/// Whether Einsum's rule would loop forever: at characters other than letters, comma, arrow and
/// ellipsis.
bool is_no_equation(const ::onnx::AttributeProto& attribute) {
  if (attribute.name() != "equation") return false;
  std::string left = attribute.s().substr(0, attribute.s().find("->"));
  std::erase(left, ' ');
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t end = std::min(left.find(',', begin), left.size());
    std::string term = left.substr(begin, end - begin);
    if (const auto dots = term.find("..."); dots != std::string::npos) term.erase(dots, 3);
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (!std::ranges::all_of(term, is_letter)) return true;
    begin = end + 1;
  }
  return false;
}

/// Whether ONNX's rule for the operator would crash or hang.
bool breaks_its_rule(const ::onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), [](const auto& attribute) {
    return begins_before_list(attribute) || is_no_equation(attribute);
  });
}

constexpr std::int64_t kMostSize = std::int64_t{1} << 40;  ///< limit along one dimension
constexpr std::int64_t kMostPropagated = 1024;  ///< limit of elements for constant propagation

void clean_dims(::onnx::TensorShapeProto& shape) {
  for (auto& dim : *shape.mutable_dim()) {
    if (dim.has_dim_value() && (dim.dim_value() < 0 || dim.dim_value() > kMostSize)) {
      dim.clear_dim_value();
    }
  }
}

/// Makes impossible sizes unknown.
void clean(TypeProto& type) {
  switch (type.value_case()) {
    case TypeProto::kTensorType:
      if (type.tensor_type().has_shape()) clean_dims(*type.mutable_tensor_type()->mutable_shape());
      return;
    case TypeProto::kSparseTensorType:
      if (type.sparse_tensor_type().has_shape()) {
        clean_dims(*type.mutable_sparse_tensor_type()->mutable_shape());
      }
      return;
    case TypeProto::kSequenceType:
      return clean(*type.mutable_sequence_type()->mutable_elem_type());
    case TypeProto::kOptionalType:
      return clean(*type.mutable_optional_type()->mutable_elem_type());
    case TypeProto::kMapType:
      return clean(*type.mutable_map_type()->mutable_value_type());
    default:
      return;
  }
}

/// The types of one graph. The rules of If, Loop and Scan request those of a subgraph through
/// ONNX's interface.
class GraphTypes final : public ::onnx::GraphInferencer {
 public:
  GraphTypes(::onnx::GraphProto& graph, const TypesByName& outer, const Opsets& opsets,
             const Source& source)
      : graph_(graph), outer_(outer), opsets_(opsets), source_(source) {}

  void run() {
    types_ = outer_;
    for (auto& value : *graph_.mutable_value_info()) declare(value);
    for (auto& value : *graph_.mutable_input()) declare(value);
    for (auto& value : *graph_.mutable_output()) declare(value);
    for (const auto& tensor : graph_.initializer()) add_initializer(tensor);
    for (auto& node : *graph_.mutable_node()) infer(node);
  }

  std::vector<const TypeProto*> doInferencing(
      const std::vector<const TypeProto*>& inputs,
      const std::vector<const ::onnx::TensorProto*>& /*input_data*/) override {
    if (inputs.size() > std::size_t(graph_.input_size())) {
      throw std::runtime_error("a subgraph has fewer inputs than its operator passes");
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) continue;
      TypeProto given = *inputs[i];
      clean(given);
      TypeProto& declared = *graph_.mutable_input(int(i))->mutable_type();
      clean(declared);
      rules::mergeShapesAndTypes(given, &declared);
    }
    run();
    std::vector<const TypeProto*> result;
    for (const auto& output : graph_.output()) result.push_back(&output.type());
    return result;
  }

 private:
  /// A node's context for its rule; subgraphs are inferred by this class recursively.
  class NodeContext final : public rules::InferenceContextImpl {
   public:
    NodeContext(::onnx::NodeProto& node, GraphTypes& graph)
        : InferenceContextImpl(node, graph.types_, graph.data_, {}, options(), &graph.values_),
          owner_(graph) {}

    ::onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
      const auto graph = graphProtoAttributesByName_.find(name);
      if (graph == graphProtoAttributesByName_.end()) {
        throw std::runtime_error("an attribute holds no graph");
      }
      auto& inner = inner_[name];
      if (!inner) {
        inner = std::make_unique<GraphTypes>(*graph->second, owner_.types_, owner_.opsets_,
                                             owner_.source_);
      }
      return inner.get();
    }

   private:
    GraphTypes& owner_;
    std::unordered_map<std::string, std::unique_ptr<GraphTypes>> inner_;
  };

  static ::onnx::ShapeInferenceOptions options() { return ::onnx::ShapeInferenceOptions(); }

  void declare(::onnx::ValueInfoProto& value) {
    TypeProto& type = *value.mutable_type();
    if (type.value_case() == TypeProto::VALUE_NOT_SET) {
      undeclared_[value.name()] = &type;
      return;
    }
    (void)read_type(type, source_,
                    "value '" + printable(value.name()) + "'");  // throws for invalid types
    clean(type);
    types_[value.name()] = &type;
  }

  void add_initializer(const ::onnx::TensorProto& tensor) {
    data_[tensor.name()] = &tensor;
    if (types_.contains(tensor.name())) return;
    auto& type = *own_types_.emplace_back().mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    type.mutable_shape();
    for (const std::int64_t dim : tensor.dims())
      type.mutable_shape()->add_dim()->set_dim_value(dim);
    types_[tensor.name()] = &own_types_.back();
  }

  void infer(::onnx::NodeProto& node) {
    const auto version = opsets_.find(node.domain());
    if (version == opsets_.end()) return;
    const auto* registry = ::onnx::OpSchemaRegistry::Instance();
    const auto* schema = registry->GetSchema(node.op_type(), version->second, node.domain());
    if (!schema || breaks_its_rule(node)) return;
    try {
      NodeContext context(node, *this);
      if (schema->has_type_and_shape_inference_function()) {
        schema->GetTypeAndShapeInferenceFunction()(context);
      } else if (schema->HasFunction()) {
        rules::InferShapeForFunctionNode(*schema->GetFunction(), registry, context, options());
      }
      for (int i = 0; i < node.output_size(); ++i) {
        set_type(node.output(i), context.allOutputTypes_[std::size_t(i)]);
      }
      remember_constant(node);
      follow_values(node, *schema);
    } catch (const Error&) {
      throw;  // d5's own error: a subgraph declares an impossible type
    } catch (const std::exception&) {
      // The operator's own shape rule checks later, when shapes are known.
    }
  }

  void set_type(const std::string& name, TypeProto& inferred) {
    if (name.empty() || inferred.value_case() == TypeProto::VALUE_NOT_SET) return;
    clean(inferred);
    if (const auto known = types_.find(name); known != types_.end()) {
      // A declaration that contradicts the rule stays, and so do the node's others.
      TypeProto merged = *known->second;
      try {
        rules::mergeShapesAndTypes(inferred, &merged);
        *known->second = std::move(merged);
      } catch (const std::exception&) {
      }
      return;
    }
    TypeProto* place = nullptr;
    if (const auto open = undeclared_.find(name); open != undeclared_.end()) {
      place = open->second;
    } else {
      auto& value = *graph_.add_value_info();
      value.set_name(name);
      place = value.mutable_type();
    }
    *place = inferred;
    types_[name] = place;
  }

  /// Rules of operators such as Reshape read the values of constant inputs.
  void remember_constant(const ::onnx::NodeProto& node) {
    if (node.op_type() != "Constant" || !node.domain().empty() || node.output_size() != 1) return;
    for (const auto& attribute : node.attribute()) {
      const bool is_list = attribute.name() == "value_ints";
      if (attribute.name() == "value" && attribute.has_t()) {
        data_[node.output(0)] = &attribute.t();
      } else if (is_list || attribute.name() == "value_int") {
        auto& tensor = own_tensors_.emplace_back();
        tensor.set_data_type(::onnx::TensorProto::INT64);
        if (is_list) {
          tensor.add_dims(attribute.ints_size());
          *tensor.mutable_int64_data() = attribute.ints();
        } else {
          tensor.add_int64_data(attribute.i());
        }
        data_[node.output(0)] = &tensor;
      }
    }
  }

  /// Propagates the values of computed shapes (Shape, Gather, Concat, Reshape).
  void follow_values(::onnx::NodeProto& node, const ::onnx::OpSchema& schema) {
    if (!schema.has_data_propagation_function()) return;
    for (const std::string& name : node.input()) {
      const auto value = values_.find(name);
      if (value != values_.end() && value->second.dim_size() > kMostPropagated) return;
      const auto type = types_.find(name);
      if (type == types_.end() || !type->second->has_tensor_type()) continue;
      const auto& shape = type->second->tensor_type().shape();
      if (shape.dim_size() == 1 && shape.dim(0).dim_value() > kMostPropagated) return;
    }
    rules::DataPropagationContextImpl context(node, types_, data_, values_);
    schema.GetDataPropagationFunction()(context);
  }

  ::onnx::GraphProto& graph_;
  const TypesByName& outer_;
  const Opsets& opsets_;
  const Source& source_;
  TypesByName types_;       ///< types known so far, including those of enclosing graphs
  TypesByName undeclared_;  ///< values of this graph that are listed without a type
  std::unordered_map<std::string, const ::onnx::TensorProto*> data_;
  rules::DataValueMap values_;
  std::deque<TypeProto> own_types_;
  std::deque<::onnx::TensorProto> own_tensors_;
};

}  // namespace

void infer_types(::onnx::ModelProto& model, const Source& source) {
  add_contrib_schemas();
  Opsets opsets;
  for (const auto& import : model.opset_import()) {
    opsets[import.domain()] = int(import.version());
  }
  if (opsets.empty()) opsets[""] = 1;  // IR versions below 3
  const TypesByName none;
  GraphTypes(*model.mutable_graph(), none, opsets, source).run();
}

}  // namespace d5::onnx::detail
