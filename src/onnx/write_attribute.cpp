// SPDX-License-Identifier: Apache-2.0
#include "onnx/write_attribute.hpp"

#include "onnx/tensor_proto.hpp"
#include "onnx/type_proto.hpp"

namespace d5::onnx::detail {
namespace {

using google::protobuf::RepeatedPtrField;
using ::onnx::AttributeProto;

/// The element of `list` at `i`; appends one if `i` is its size.
template <class T>
T& element(RepeatedPtrField<T>& list, std::size_t i) {
  return int(i) < list.size() ? list[int(i)] : *list.Add();
}

/// One overload per attribute type, for `std::visit`.
class AttributeWriter {
 public:
  AttributeWriter(AttributeProto& proto, const WriteInitializer& write)
      : proto_(proto), write_(write) {}

  void operator()(std::int64_t value) const {
    be(AttributeProto::INT);
    proto_.set_i(value);
  }
  void operator()(float value) const {
    be(AttributeProto::FLOAT);
    proto_.set_f(value);
  }
  void operator()(const std::string& value) const {
    be(AttributeProto::STRING);
    proto_.set_s(value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    be(AttributeProto::INTS);
    proto_.mutable_ints()->Assign(values.begin(), values.end());
  }
  void operator()(const std::vector<float>& values) const {
    be(AttributeProto::FLOATS);
    proto_.mutable_floats()->Assign(values.begin(), values.end());
  }
  void operator()(const std::vector<std::string>& values) const {
    be(AttributeProto::STRINGS);
    proto_.mutable_strings()->Assign(values.begin(), values.end());
  }
  void operator()(const Tensor& value) const {
    be(AttributeProto::TENSOR);
    write_tensor(value, "", *proto_.mutable_t());
  }
  void operator()(const std::vector<Tensor>& values) const {
    be(AttributeProto::TENSORS);
    for (std::size_t i = 0; i < values.size(); ++i) {
      write_tensor(values[i], "", element(*proto_.mutable_tensors(), i));
    }
  }
  void operator()(const SparseTensor& value) const {
    be(AttributeProto::SPARSE_TENSOR);
    write_sparse_tensor(value, "", *proto_.mutable_sparse_tensor());
  }
  void operator()(const std::shared_ptr<const Graph>& value) const {
    be(AttributeProto::GRAPH);
    write_graph(*value, *proto_.mutable_g(), write_);
  }
  void operator()(const std::vector<std::shared_ptr<const Graph>>& values) const {
    be(AttributeProto::GRAPHS);
    for (std::size_t i = 0; i < values.size(); ++i) {
      write_graph(*values[i], element(*proto_.mutable_graphs(), i), write_);
    }
  }
  void operator()(const Type& value) const {
    be(AttributeProto::TYPE_PROTO);
    write_type(value, *proto_.mutable_tp());
  }
  void operator()(const std::vector<Type>& values) const {
    be(AttributeProto::TYPE_PROTOS);
    for (std::size_t i = 0; i < values.size(); ++i) {
      write_type(values[i], element(*proto_.mutable_type_protos(), i));
    }
  }

 private:
  /// Discards the remainder of an attribute of another type.
  void be(AttributeProto::AttributeType type) const {
    if (proto_.type() != type) proto_.Clear();
    proto_.set_type(type);
  }

  AttributeProto& proto_;
  const WriteInitializer& write_;
};

}  // namespace

void write_attribute(const std::string& name, const Attribute& value, AttributeProto& proto,
                     const WriteInitializer& write) {
  std::visit(AttributeWriter(proto, write), value);
  proto.set_name(name);
}

}  // namespace d5::onnx::detail
