// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/python_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "answered.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "level2_training/data/described_fields.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

py::function method(const PythonDataset& dataset, const char* name) {
  const py::function found = override_of(static_cast<const Dataset*>(&dataset), name);
  if (found) return found;
  throw TypeError(fmt::format(
      "the data set {} has no method {}; it needs __len__(), fields(), which returns a dict of "
      "(type, shape), and read(index, seed, epoch), which returns a dict of arrays",
      dataset.name(), name));
}

std::string who(const PythonDataset& dataset, const char* name) {
  return fmt::format("the data set {}: {}()", dataset.name(), name);
}

/// The place of a value in messages: "the data set Moons: sample 3: field 'label'".
using Place = std::function<std::string()>;

/// Numbers and lists are converted to the field's type if it holds them: 1.9 is no int64.
Tensor converted(const py::handle& value, DType dtype, const Place& who) {
  const py::object given = py::module_::import("numpy").attr("asarray")(value);
  const py::object result = given.attr("astype")(std::string(name_of(dtype)));
  if (is_floating_point(dtype) || result.attr("__eq__")(given).attr("all")().cast<bool>()) {
    return to_tensor(result);
  }
  throw TypeError(
      fmt::format("{} is {}, which {} does not hold", who(), shown(value), name_of(dtype)));
}

/// The result of `read` for a field. Numbers and lists are converted to the field's type; arrays
/// must have it.
Tensor to_field(const py::handle& value, const Dataset::Field& field, const Place& who) {
  if (field.desc.dtype == DType::string &&
      (py::isinstance<py::bytes>(value) || py::isinstance<py::str>(value))) {
    return Tensor::scalar(value.cast<std::string>());
  }
  const bool is_plain = py::isinstance<py::int_>(value) || py::isinstance<py::float_>(value) ||
                        py::isinstance<py::list>(value);
  if (!is_plain || field.desc.dtype == DType::string) return to_tensor(value);
  return converted(value, field.desc.dtype, who);
}

bool fits(const Shape& shape, const Shape& wanted) {
  const auto given = shape.dims(), expected = wanted.dims();
  return std::ranges::equal(given, expected, [](auto size, auto open_or_size) {
    return open_or_size < 0 || size == open_or_size;
  });
}

void expect_of_field(const Tensor& value, const Dataset::Field& field, const Place& who) {
  const auto message = [&] {
    return fmt::format("{} is {}, expected {}", who(), to_string(value.desc()),
                       to_string(field.desc));
  };
  if (value.dtype() != field.desc.dtype) throw TypeError(message());
  if (!fits(value.shape(), field.desc.shape)) throw ShapeError(message());
}

/// Throws: NotFound for what `fields()` does not name, and for what it names and is not there.
void expect_fields(const py::dict& sample, const std::vector<Dataset::Field>& fields,
                   const Place& who) {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  for (const auto& [key, value] : sample) {
    const auto name = py::str(key).cast<std::string>();
    if (std::ranges::find(names, name) == names.end()) {
      throw_unknown_name(who() + ": field", name, names);
    }
  }
  for (const std::string& name : names) {
    if (sample.contains(py::cast(name))) continue;
    throw NotFound(fmt::format("{} has no field '{}'", who(), printable(name)));
  }
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
      const Place of_sample = [&] {
        return fmt::format("the data set {}: sample {}", name(), indices[i]);
      };
      expect_fields(sample, fields, of_sample);
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const Place field = [&] {
          return fmt::format("{}: field '{}'", of_sample(), printable(fields[f].name));
        };
        const Tensor value = to_field(sample[py::cast(fields[f].name)], fields[f], field);
        expect_of_field(value, fields[f], field);
        put(value, fields[f], std::int64_t(i), batch[f]);
      }
    }
  });
}

}  // namespace d5::python
