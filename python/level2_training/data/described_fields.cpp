// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/described_fields.hpp"

namespace d5::python {

TypeAndShape words_of(const TensorDesc& desc) {
  const auto dims = desc.shape.dims();
  return {std::string(name_of(desc.dtype)), {dims.begin(), dims.end()}};
}

TensorDesc desc_of(const TypeAndShape& words) {
  return {dtype_from_name(words.first), Shape(words.second)};
}

py::dict words_of(const std::vector<Dataset::Field>& fields) {
  py::dict result;
  for (const auto& [name, desc] : fields) result[py::cast(name)] = words_of(desc);
  return result;
}

std::vector<Dataset::Field> fields_of(const py::dict& words) {
  std::vector<Dataset::Field> fields;
  for (const auto& [name, desc] : words) {
    fields.push_back({name.cast<std::string>(), desc_of(desc.cast<TypeAndShape>())});
  }
  return fields;
}

}  // namespace d5::python
