// SPDX-License-Identifier: Apache-2.0
#include "onnx/write_graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "onnx/type_proto.hpp"
#include "onnx/write_attribute.hpp"

namespace d5::onnx::detail {
namespace {

using google::protobuf::RepeatedPtrField;

/// Finds the remainder of an element by its name.
template <class T>
class ByName {
 public:
  template <class Name>
  ByName(RepeatedPtrField<T>& list, const Name& name) {
    list_.Swap(&list);
    for (T& message : list_) {
      if (const std::string& key = name(message); !key.empty()) place_.emplace(key, &message);
    }
  }
  /// Takes the remainder of an element, or nothing; once per name.
  [[nodiscard]] T take(const std::string& name) {
    const auto place = place_.find(name);
    return place == place_.end() ? T() : std::move(*place->second);
  }
  [[nodiscard]] const RepeatedPtrField<T>& all() const { return list_; }

 private:
  RepeatedPtrField<T> list_;
  std::map<std::string, T*> place_;
};

template <class Outputs>
const std::string& first_of(const Outputs& outputs) {
  static const std::string kNone;
  const auto place = std::find_if(outputs.begin(), outputs.end(),
                                  [](const std::string& name) { return !name.empty(); });
  return place == outputs.end() ? kNone : *place;
}

class GraphWriter {
 public:
  GraphWriter(const Graph& graph, ::onnx::GraphProto& proto, const WriteInitializer& write)
      : graph_(graph),
        proto_(proto),
        write_(write),
        nodes_(*proto.mutable_node(),
               [](const auto& node) -> const auto& { return first_of(node.output()); }),
        inputs_(*proto.mutable_input(), name_of),
        outputs_(*proto.mutable_output(), name_of),
        values_(*proto.mutable_value_info(), name_of),
        initializers_(*proto.mutable_initializer(), name_of) {}

  void run() {
    proto_.set_name(graph_.name.empty() ? "graph" : graph_.name);  // required by ONNX
    if (!graph_.doc.empty()) proto_.set_doc_string(graph_.doc);
    for (const Node& node : graph_.nodes) write_node(node);
    write_values(graph_.outputs, outputs_, *proto_.mutable_output());
    write_values(graph_.values, values_, *proto_.mutable_value_info());
    write_initializers();
    write_inputs_with_initializers();  // before their remainders are taken
    drop_annotations();
  }

 private:
  static constexpr auto name_of = [](const auto& message) -> const std::string& {
    return message.name();
  };

  void write_node(const Node& node) {
    auto& proto = *proto_.add_node();
    proto = nodes_.take(first_of(node.outputs));
    if (proto.op_type() != node.op_type || proto.domain() != node.domain) proto.Clear();
    std::map<std::string, ::onnx::AttributeProto> attributes;
    for (auto& left : *proto.mutable_attribute()) attributes[left.name()] = std::move(left);
    proto.clear_attribute();
    proto.clear_output();
    if (!node.name.empty()) proto.set_name(node.name);
    proto.set_op_type(node.op_type);
    if (node.domain.empty()) proto.clear_domain();
    if (!node.domain.empty()) proto.set_domain(node.domain);
    if (!node.doc.empty()) proto.set_doc_string(node.doc);
    for (const std::string& name : node.inputs) proto.add_input(name);
    for (const std::string& name : node.outputs) proto.add_output(name);
    for (const auto& [name, value] : node.attributes) {
      auto& attribute = *proto.add_attribute();
      if (const auto left = attributes.find(name); left != attributes.end()) {
        attribute = std::move(left->second);
      }
      write_attribute(name, value, attribute, write_);
    }
  }

  static void write_values(const std::vector<ValueInfo>& values,
                           ByName<::onnx::ValueInfoProto>& known,
                           RepeatedPtrField<::onnx::ValueInfoProto>& to) {
    for (const ValueInfo& value : values) {
      auto& proto = *to.Add();
      proto = known.take(value.name);
      proto.set_name(value.name);
      if (value.type.kind == ValueKind::none) {
        proto.clear_type();
      } else {
        write_type(value.type, *proto.mutable_type());
      }
    }
  }

  /// Writes initializers in the order of the file, then new ones.
  void write_initializers() {
    std::set<std::string_view> written;  // names in the graph
    const auto write = [&](const std::string& name, const Tensor& value) {
      auto& proto = *proto_.add_initializer();
      proto = initializers_.take(name);
      write_(value, name, proto);
    };
    for (const auto& left : initializers_.all()) {
      const auto place = graph_.initializers.find(left.name());
      if (place == graph_.initializers.end() || !written.insert(place->first).second) continue;
      write(place->first, place->second);
    }
    for (const auto& [name, value] : graph_.initializers) {
      if (!written.contains(name)) write(name, value);
    }
  }

  /// Writes the inputs, with those that have an initializer at their original positions.
  void write_inputs_with_initializers() {
    std::vector<::onnx::ValueInfoProto> with_initializer(std::size_t(inputs_.all().size()));
    for (int i = 0; i < inputs_.all().size(); ++i) {
      if (declares_initializer(inputs_.all()[i])) {
        with_initializer[std::size_t(i)] = inputs_.all()[i];
      }
    }
    auto& to = *proto_.mutable_input();
    write_values(graph_.inputs, inputs_, to);
    for (int i = 0; i < int(with_initializer.size()); ++i) {
      if (with_initializer[std::size_t(i)].name().empty()) continue;
      *to.Add() = std::move(with_initializer[std::size_t(i)]);
      for (int at = to.size() - 1; at > i; --at) to.SwapElements(at, at - 1);
    }
  }

  /// Whether the input still matches its initializer.
  bool declares_initializer(const ::onnx::ValueInfoProto& input) const {
    const auto place = graph_.initializers.find(input.name());
    if (place == graph_.initializers.end() || !input.type().has_tensor_type()) return false;
    for (const ValueInfo& known : graph_.inputs) {
      if (known.name == input.name()) return false;
    }
    const auto& type = input.type().tensor_type();
    const Shape& shape = place->second.shape();
    if (type.elem_type() != std::int32_t(place->second.dtype())) return false;
    if (!type.has_shape()) return true;
    const auto& dims = type.shape().dim();
    return std::equal(dims.begin(), dims.end(), shape.begin(), shape.end(),
                      [](const auto& dim, std::int64_t size) {
                        return !dim.has_dim_value() || dim.dim_value() == size;
                      });
  }

  /// Removes annotations of tensors that no longer exist.
  void drop_annotations() {
    if (proto_.quantization_annotation().empty()) return;
    std::set<std::string> known;
    for (const auto& input : proto_.input()) known.insert(input.name());
    for (const auto& tensor : proto_.initializer()) known.insert(tensor.name());
    for (const auto& node : proto_.node()) known.insert(node.output().begin(), node.output().end());
    auto& all = *proto_.mutable_quantization_annotation();
    const auto kept = std::remove_if(all.begin(), all.end(), [&](const auto& annotation) {
      return !known.contains(annotation.tensor_name());
    });
    all.erase(kept, all.end());
  }

  const Graph& graph_;
  ::onnx::GraphProto& proto_;
  const WriteInitializer& write_;
  ByName<::onnx::NodeProto> nodes_;
  ByName<::onnx::ValueInfoProto> inputs_, outputs_, values_;
  ByName<::onnx::TensorProto> initializers_;
};

}  // namespace

void write_graph(const Graph& graph, ::onnx::GraphProto& proto, const WriteInitializer& write) {
  GraphWriter(graph, proto, write).run();
}

}  // namespace d5::onnx::detail
