// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/value.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {

ValueDesc ValueDesc::sequence_of(ValueDesc element) {
  ValueDesc result;
  result.kind = ValueKind::sequence;
  result.element = std::make_shared<const ValueDesc>(std::move(element));
  return result;
}

ValueDesc ValueDesc::optional_of(ValueDesc element) {
  ValueDesc result;
  result.kind = ValueKind::optional;
  result.element = std::make_shared<const ValueDesc>(std::move(element));
  return result;
}

std::string_view name_of(ValueKind kind) {
  constexpr std::string_view names[] = {"nothing", "tensor", "sequence", "optional", "map"};
  return names[std::size_t(kind)];
}

std::string to_string(const ValueDesc& desc) {
  if (desc.kind == ValueKind::tensor) return to_string(desc.tensor);
  if (desc.kind == ValueKind::none) return "nothing";
  return fmt::format("{} of {}", name_of(desc.kind),
                     desc.element ? to_string(*desc.element) : "unknown");
}

ValueDesc Value::desc() const {
  switch (kind()) {
    case ValueKind::none:
      return {};
    case ValueKind::tensor:
      return std::get<Tensor>(data_).desc();
    case ValueKind::sequence:
      return ValueDesc::sequence_of(sequence().element);
    case ValueKind::optional:
      return ValueDesc::optional_of(optional().element);
    case ValueKind::map: {
      ValueDesc result;
      result.kind = ValueKind::map;
      result.tensor.dtype = map().keys.index() == 0 ? DType::int64 : DType::string;
      // Type of a single value; all values form a sequence.
      if (map().values) {
        result.element = std::make_shared<const ValueDesc>(map().values->sequence().element);
      }
      return result;
    }
  }
  return {};
}

const Sequence& Value::sequence() const {
  if (const auto* s = std::get_if<Sequence>(&data_)) return *s;
  throw_wrong_kind(ValueKind::sequence);
}
Sequence& Value::sequence() { return const_cast<Sequence&>(std::as_const(*this).sequence()); }
const Optional& Value::optional() const {
  if (const auto* o = std::get_if<Optional>(&data_)) return *o;
  throw_wrong_kind(ValueKind::optional);
}
const Map& Value::map() const {
  if (const auto* m = std::get_if<Map>(&data_)) return *m;
  throw_wrong_kind(ValueKind::map);
}

void Value::throw_wrong_kind(ValueKind asked) const {
  throw TypeError(
      fmt::format("value is {}, but a {} was asked for", to_string(desc()), name_of(asked)));
}

}  // namespace d5
