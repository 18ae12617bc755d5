// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

enum class ValueKind : std::uint8_t { none, tensor, sequence, optional, map };

/// Description of a value, without its data. Converts from TensorDesc.
struct ValueDesc {
  ValueKind kind = ValueKind::none;
  TensorDesc tensor;  ///< a tensor's description; for a map, the dtype of its keys
  std::shared_ptr<const ValueDesc> element;  ///< content of a sequence, an optional or a map

  ValueDesc() = default;
  ValueDesc(TensorDesc desc) : kind(ValueKind::tensor), tensor(std::move(desc)) {}
  [[nodiscard]] static ValueDesc sequence_of(ValueDesc element);
  [[nodiscard]] static ValueDesc optional_of(ValueDesc element);
  [[nodiscard]] bool is_tensor() const { return kind == ValueKind::tensor; }
  /// Whether it is a tensor with a fully known shape.
  [[nodiscard]] bool is_static() const { return is_tensor() && tensor.shape.is_static(); }
};

/// "float32 2x3", "sequence of float32 ?", "optional of ...".
[[nodiscard]] std::string to_string(const ValueDesc& desc);

class Value;

/// ONNX's sequence: values of one type, which is known even if it is empty.
struct Sequence {
  ValueDesc element;
  std::vector<Value> values;
};

/// ONNX's optional: a value or nothing, of a known type.
struct Optional {
  ValueDesc element;
  std::shared_ptr<const Value> value;  ///< null: none
};

/// ONNX's map, with integers or strings as keys.
struct Map {
  std::variant<std::vector<std::int64_t>, std::vector<std::string>> keys;
  std::shared_ptr<const Value> values;
};

/// A value on an edge of a graph: nothing, a tensor, a sequence, an optional or a map.
class Value {
 public:
  Value() = default;
  Value(Tensor tensor) : data_(std::move(tensor)) {}
  Value(Sequence sequence) : data_(std::move(sequence)) {}
  Value(Optional optional) : data_(std::move(optional)) {}
  Value(Map map) : data_(std::move(map)) {}

  [[nodiscard]] ValueKind kind() const { return static_cast<ValueKind>(data_.index()); }
  [[nodiscard]] bool is_tensor() const { return std::holds_alternative<Tensor>(data_); }
  [[nodiscard]] ValueDesc desc() const;

  /// Throws: TypeError if it is something else.
  [[nodiscard]] const Tensor& tensor() const {
    if (const auto* t = std::get_if<Tensor>(&data_)) [[likely]]
      return *t;
    throw_wrong_kind(ValueKind::tensor);
  }
  [[nodiscard]] Tensor& tensor() { return const_cast<Tensor&>(std::as_const(*this).tensor()); }
  [[nodiscard]] const Sequence& sequence() const;
  [[nodiscard]] Sequence& sequence();
  [[nodiscard]] const Optional& optional() const;
  [[nodiscard]] const Map& map() const;

 private:
  [[noreturn]] void throw_wrong_kind(ValueKind asked) const;
  std::variant<std::monostate, Tensor, Sequence, Optional, Map> data_;
};

/// Values by name: inputs or outputs of a graph.
using ValueMap = std::map<std::string, Value, std::less<>>;

[[nodiscard]] std::string_view name_of(ValueKind kind);

}  // namespace d5
