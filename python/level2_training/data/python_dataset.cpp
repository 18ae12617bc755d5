// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/python_dataset.hpp"

#include <fmt/format.h>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "level2_training/data/described_fields.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

py::function method(const PythonDataset& dataset, const char* name) {
  py::function found = py::get_override(static_cast<const Dataset*>(&dataset), name);
  if (found) return found;
  throw TypeError(fmt::format(
      "the data set {} has no method {}; it needs __len__(), fields(), which returns a dict of "
      "(type, shape), and read(index, seed, epoch), which returns a dict of arrays",
      dataset.name(), name));
}

std::string who(const PythonDataset& dataset, const char* name) {
  return fmt::format("the data set {}: {}()", dataset.name(), name);
}

/// The result of `read` for a field. Numbers and lists are converted to the field's type; arrays
/// must have it.
Tensor to_field(const py::handle& value, const Dataset::Field& field) {
  if (field.desc.dtype == DType::string &&
      (py::isinstance<py::bytes>(value) || py::isinstance<py::str>(value))) {
    return Tensor::scalar(value.cast<std::string>());
  }
  const bool is_plain = py::isinstance<py::int_>(value) || py::isinstance<py::float_>(value) ||
                        py::isinstance<py::list>(value);
  if (!is_plain) return to_tensor(value);
  return to_tensor(
      py::module_::import("numpy").attr("asarray")(value, std::string(name_of(field.desc.dtype))));
}

/// Copies `value` to sample `place` of the batch's tensor.
void put(const Tensor& value, const Dataset::Field& field, std::int64_t place, Tensor& batch) {
  std::vector<std::int64_t> dims{1};
  const auto own = value.shape().dims();
  dims.insert(dims.end(), own.begin(), own.end());
  Tensor sample = value.reshaped(Shape(std::move(dims)));
  if (field.desc.shape.is_static()) {
    batch.slice(place, place + 1).copy_from(sample);
  } else {
    batch = sample.copy();
  }
}

}  // namespace

std::string PythonDataset::name() const {
  const py::gil_scoped_acquire gil;
  const py::object self = py::cast(static_cast<const Dataset*>(this));
  const py::object type = py::type::of(self);
  const py::object named = type.attr("name");
  return (py::isinstance<py::str>(named) ? named : type.attr("__name__")).cast<std::string>();
}

std::int64_t PythonDataset::size() const {
  return call_python([&] {
    return answered<std::int64_t>(method(*this, "__len__")(), who(*this, "__len__"),
                                  "a whole number");
  });
}

const std::vector<Dataset::Field>& PythonDataset::fields() const {
  return call_python([&]() -> const std::vector<Field>& {
    if (!fields_.empty()) return fields_;
    std::vector<Field> fields = fields_of(answered<py::dict>(
        method(*this, "fields")(), who(*this, "fields"), "a dict of (type, shape) by name"));
    if (fields.empty()) throw ValueError(fmt::format("the data set {} has no fields", name()));
    fields_ = std::move(fields);
    return fields_;
  });
}

void PythonDataset::read(std::span<const std::int64_t> indices, const Draw& draw,
                         std::span<Tensor> batch) const {
  const auto& fields = this->fields();
  call_python([&] {
    const py::function read_one = method(*this, "read");
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto sample = answered<py::dict>(read_one(indices[i], draw.seed, draw.epoch),
                                             who(*this, "read"), "a dict of arrays by field");
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const auto key = py::cast(fields[f].name);
        if (!sample.contains(key)) {
          throw NotFound(fmt::format("the data set {}: sample {} has no field '{}'", name(),
                                     indices[i], printable(fields[f].name)));
        }
        put(to_field(sample[key], fields[f]), fields[f], std::int64_t(i), batch[f]);
      }
    }
  });
}

}  // namespace d5::python
