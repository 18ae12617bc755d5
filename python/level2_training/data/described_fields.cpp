// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/described_fields.hpp"

#include "answered.hpp"

namespace d5::python {

TypeAndShape words_of(const TensorDesc& desc) {
  const auto dims = desc.shape.dims();
  return {{std::string(name_of(desc.dtype))}, {dims.begin(), dims.end()}};
}

TensorDesc desc_of(const TypeAndShape& words) {
  return {dtype_from_name(words.first.name), Shape(words.second)};
}

py::dict words_of(const std::vector<Dataset::Field>& fields) {
  py::dict result;
  for (const auto& [name, desc] : fields) result[py::cast(name)] = words_of(desc);
  return result;
}

std::vector<Dataset::Field> fields_of(const py::dict& words) {
  std::vector<Dataset::Field> fields;
  for (const auto& [name, desc] : words) {
    const std::string who = fmt::format("field '{}'", printable(py::str(name).cast<std::string>()));
    fields.push_back({answered<std::string>(name, "the name of a field", "a text"),
                      desc_of(answered<TypeAndShape>(desc, who, "(type, shape)"))});
  }
  return fields;
}

}  // namespace d5::python
