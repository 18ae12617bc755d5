// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/custom_operator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <limits>
#include <list>
#include <type_traits>

#include "d5/abi.h"
#include "d5/core/error.hpp"

namespace d5 {
namespace {

[[noreturn]] void throw_status(d5_status status, const std::string& who, d5_error& error) {
  error.message[sizeof error.message - 1] = '\0';
  const std::string message = fmt::format(
      "{}: {}", who, error.message[0] ? printable(error.message) : "failed without a message");
  switch (status) {
    case D5_SHAPE_ERROR:
      throw ShapeError(message);
    case D5_TYPE_ERROR:
      throw TypeError(message);
    case D5_VALUE_ERROR:
      throw ValueError(message);
    case D5_UNSUPPORTED:
      throw Unsupported(message);
    default:
      throw Error(message);
  }
}

/// A node's attributes as C sees them; the node outlives it.
class AttributeTable {
 public:
  explicit AttributeTable(const onnx::Node& node) {
    for (const auto& [name, attribute] : node.attributes) {
      d5_attribute entry{name.c_str(), 0, 0, nullptr, nullptr, nullptr};
      if (std::visit([&](const auto& value) { return fill(entry, value); }, attribute)) {
        entries_.push_back(entry);
      }
    }
  }
  [[nodiscard]] const std::vector<d5_attribute>& entries() const { return entries_; }

 private:
  bool fill(d5_attribute& entry, const std::int64_t& value) {
    return set(entry, D5_ATTRIBUTE_INT, entry.integers, &value, 1);
  }
  bool fill(d5_attribute& entry, const float& value) {
    return set(entry, D5_ATTRIBUTE_FLOAT, entry.floats, &value, 1);
  }
  bool fill(d5_attribute& entry, const std::string& value) {
    return set(entry, D5_ATTRIBUTE_STRING, entry.strings,
               words_.emplace_back(1, value.c_str()).data(), 1);
  }
  bool fill(d5_attribute& entry, const std::vector<std::int64_t>& values) {
    return set(entry, D5_ATTRIBUTE_INTS, entry.integers, values.data(), values.size());
  }
  bool fill(d5_attribute& entry, const std::vector<float>& values) {
    return set(entry, D5_ATTRIBUTE_FLOATS, entry.floats, values.data(), values.size());
  }
  bool fill(d5_attribute& entry, const std::vector<std::string>& values) {
    auto& words = words_.emplace_back();
    for (const auto& value : values) words.push_back(value.c_str());
    return set(entry, D5_ATTRIBUTE_STRINGS, entry.strings, words.data(), words.size());
  }
  bool fill(d5_attribute&, const auto&) { return false; }

  template <class T>
  static bool set(d5_attribute& entry, d5_attribute_kind kind, T& place,
                  std::type_identity_t<T> values, std::size_t count) {
    entry.kind = kind;
    entry.count = count;
    place = values;
    return true;
  }

  std::vector<d5_attribute> entries_;
  std::list<std::vector<const char*>> words_;
};

d5_tensor to_c(const TensorDesc& desc, const void* data) {
  return {const_cast<void*>(data), desc.shape.dims().data(), std::int32_t(desc.shape.rank()),
          std::int32_t(desc.dtype)};
}
constexpr d5_tensor kLeftOut{nullptr, nullptr, 0, 0};

/// Strings and values that are no tensors do not cross the border.
d5_tensor to_c(const Tensor& tensor) {
  if (tensor.dtype() == DType::string) throw TypeError("a custom operator cannot read strings");
  return to_c(tensor.desc(), tensor.raw());
}
d5_tensor to_c(const Value* value) { return value ? to_c(value->tensor()) : kLeftOut; }
d5_tensor to_c(const Tensor* tensor) { return tensor ? to_c(*tensor) : kLeftOut; }

template <class Pointers>
void to_c(std::vector<d5_tensor>& tensors, const Pointers& pointers, std::size_t count) {
  tensors.assign(count, kLeftOut);
  for (std::size_t i = 0; i < count && i < pointers.size(); ++i) tensors[i] = to_c(pointers[i]);
}

/// An operator of a table, as d5 sees it. Vectors are kept, so that runs do not allocate.
class CustomOperator final : public Operator {
 public:
  CustomOperator(const d5_operator& table, const onnx::Node& node) : table_(table) {
    if (!table_.create) return;
    const AttributeTable attributes(node);
    const d5_node c_node{
        node.name.c_str(),          node.op_type.c_str(), node.opset,
        node.inputs.size(),         node.outputs.size(),  attributes.entries().data(),
        attributes.entries().size()};
    d5_error error{};
    if (const d5_status status = table_.create(&c_node, &self_, &error); status != D5_OK) {
      throw_status(status, onnx::describe(node), error);
    }
  }
  ~CustomOperator() override {
    if (table_.destroy) table_.destroy(self_);
  }
  CustomOperator(const CustomOperator&) = delete;
  CustomOperator& operator=(const CustomOperator&) = delete;

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    std::vector<d5_tensor> inputs(context.input_count(), kLeftOut);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!context.has_input(i)) continue;
      const Tensor* constant = context.constant(i);
      inputs[i] = to_c(context.input(i), constant ? constant->raw() : nullptr);
    }
    std::vector<d5_tensor_desc> outputs(context.output_count());
    d5_error error{};
    const d5_status status =
        table_.infer(self_, inputs.data(), inputs.size(), outputs.data(), outputs.size(), &error);
    if (status != D5_OK) throw_status(status, context.who(), error);
    std::vector<ValueDesc> result;
    for (const d5_tensor_desc& output : outputs) {
      result.push_back(checked(output, context.who()));
    }
    return result;
  }

  void forward(OpContext& context) override {
    to_c(inputs_, context.inputs, context.inputs.size());
    to_c(outputs_, context.outputs, context.outputs.size());
    d5_error error{};
    const d5_status status = table_.forward(self_, inputs_.data(), inputs_.size(), outputs_.data(),
                                            outputs_.size(), &error);
    if (status != D5_OK) throw_status(status, context.who(), error);
  }

  void backward(GradContext& context) override {
    if (!table_.backward) return Operator::backward(context);
    to_c(inputs_, context.inputs, context.inputs.size());
    to_c(outputs_, context.outputs, context.outputs.size());
    to_c(grad_outputs_, context.grad_outputs, context.outputs.size());
    to_c(grad_inputs_, context.grad_inputs, context.inputs.size());
    d5_error error{};
    const d5_status status =
        table_.backward(self_, inputs_.data(), inputs_.size(), outputs_.data(), outputs_.size(),
                        grad_outputs_.data(), grad_inputs_.data(), &error);
    if (status != D5_OK) throw_status(status, context.who(), error);
  }

  bool differentiable(std::size_t) const override { return table_.backward != nullptr; }

 private:
  static ValueDesc checked(const d5_tensor_desc& output, const std::string& who) {
    bool valid = output.dtype > 0 && output.dtype < kDTypeCount &&
                 DType(output.dtype) != DType::string && output.rank >= 0 &&
                 output.rank <= D5_MOST_DIMS;
    Shape shape;
    for (std::int32_t d = 0; valid && d < output.rank; ++d) {
      valid = output.dims[d] >= 0;
      shape.push_back(output.dims[d]);
    }
    if (!valid) {
      throw ShapeError(
          fmt::format("{}: its infer function gave element type {} and rank {} with a "
                      "dimension that is no size",
                      who, output.dtype, output.rank));
    }
    return TensorDesc{DType(output.dtype), shape};
  }

  const d5_operator& table_;
  void* self_ = nullptr;
  std::vector<d5_tensor> inputs_, outputs_, grad_outputs_, grad_inputs_;
};

}  // namespace

std::vector<std::string> load_custom_operators(const std::string& library_path,
                                               OperatorRegistry& registry) {
  const std::string who = fmt::format("custom operators '{}'", printable(library_path));
  void* library = dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw IoError(fmt::format("{}: {}", who, dlerror()));
  using Entry = const d5_operator_table* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "d5_custom_operators"));
  const d5_operator_table* table = entry ? entry() : nullptr;
  if (!table || table->abi_version != D5_ABI_VERSION) {
    const std::string found = !entry   ? "exports no d5_custom_operators"
                              : !table ? "has no table of operators"
                                       : fmt::format("is of ABI version {}", table->abi_version);
    dlclose(library);
    throw Unsupported(
        fmt::format("{}: the library {}, expected one built against d5/abi.h of "
                    "version {}",
                    who, found, D5_ABI_VERSION));
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table->operator_count; ++i) {
    const d5_operator& op = table->operators[i];
    if (!op.domain || !op.name || !op.infer || !op.forward) {
      throw Unsupported(
          fmt::format("{}: operator {} lacks a domain, a name, infer or forward", who, i));
    }
    const int until = op.until_version > 0 ? op.until_version : std::numeric_limits<int>::max();
    registry.add(
        op.name, {.since = op.since_version, .until = until, .domain = op.domain},
        [&op](const onnx::Node& node) { return std::make_unique<CustomOperator>(op, node); });
    names.push_back(*op.domain ? fmt::format("{}.{}", op.domain, op.name) : op.name);
  }
  return names;
}

}  // namespace d5
