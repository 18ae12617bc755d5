// SPDX-License-Identifier: Apache-2.0
// Values between Python and d5.
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/dlpack.hpp"
#include "d5/core/error.hpp"

namespace d5::python {
namespace {

Tensor from_capsule(const py::capsule& capsule) {
  auto* managed = static_cast<D5DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (!managed) throw py::error_already_set();
  Tensor result = from_dlpack(managed);
  // Ownership moved: the capsule's own destructor must leave it alone.
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return result;
}

Tensor strings_from_numpy(const py::object& array) {
  Shape shape;
  for (const auto& dim : array.attr("shape")) shape.push_back(dim.cast<std::int64_t>());
  Tensor result = Tensor::empty(DType::string, shape);
  auto* to = result.data<std::string>();
  for (const auto& item : array.attr("ravel")().attr("tolist")()) {
    if (!py::isinstance<py::str>(item) && !py::isinstance<py::bytes>(item)) {
      throw TypeError(fmt::format(
          "an array of Python objects holds a {}; expected numbers of one type (rows of equal "
          "length, no None), or strings alone",
          std::string(py::str(py::type::of(item).attr("__name__")))));
    }
    *to++ = item.cast<std::string>();
  }
  return result;
}

/// What DLPack can say of NumPy's types.
bool is_number(const std::string& kind) {
  return std::string_view("biufc").find(kind) != std::string_view::npos;
}

/// Keys are all texts or all integers; ONNX's maps have scalars for values.
Map map_from_dict(const py::dict& dict) {
  Sequence values;
  std::vector<std::string> words;
  std::vector<std::int64_t> numbers;
  for (const auto& [key, value] : dict) {
    if (py::isinstance<py::str>(key)) {
      words.push_back(key.cast<std::string>());
    } else if (py::isinstance<py::int_>(key)) {
      numbers.push_back(key.cast<std::int64_t>());
    } else {
      throw TypeError(fmt::format("a map has the key {}; expected texts, or integers",
                                  std::string(py::repr(key))));
    }
    values.values.push_back(to_value(value));
  }
  if (!words.empty() && !numbers.empty()) {
    throw TypeError("a map has texts and integers for keys; expected one type");
  }
  if (!values.values.empty()) values.element = values.values.front().desc();
  Map result;
  if (!words.empty()) {
    result.keys = std::move(words);
  } else {
    result.keys = std::move(numbers);
  }
  result.values = std::make_shared<const Value>(std::move(values));
  return result;
}

}  // namespace

Tensor to_tensor(const py::handle& object) {
  if (py::isinstance<Tensor>(object)) return object.cast<Tensor>();
  const py::module_ numpy = py::module_::import("numpy");
  py::object source = py::reinterpret_borrow<py::object>(object);
  if (!py::hasattr(source, "__dlpack__")) source = numpy.attr("asarray")(source);
  if (py::isinstance(source, numpy.attr("ndarray"))) {
    const auto kind = source.attr("dtype").attr("kind").cast<std::string>();
    if (kind == "U" || kind == "O" || kind == "S" || kind == "T") return strings_from_numpy(source);
    if (!is_number(kind)) {
      throw TypeError(fmt::format("an array of {} is no tensor; expected numbers or strings",
                                  std::string(py::str(source.attr("dtype")))));
    }
    source = numpy.attr("ascontiguousarray")(source).attr("reshape")(source.attr("shape"));
    // A read-only array cannot be shared with code that may write.
    if (!source.attr("flags").attr("writeable").cast<bool>()) source = source.attr("copy")();
  } else if (py::hasattr(source, "detach")) {
    source = source.attr("detach")().attr("contiguous")();
  }
  return from_capsule(source.attr("__dlpack__")());
}

Value to_value(const py::handle& object) {
  if (object.is_none()) return Optional{};
  if (py::isinstance<py::list>(object)) {
    Sequence sequence;
    for (const auto& item : object) sequence.values.push_back(to_value(item));
    if (!sequence.values.empty()) {
      sequence.element = sequence.values.front().desc();
    }
    return sequence;
  }
  if (py::isinstance<py::dict>(object)) {
    return map_from_dict(py::reinterpret_borrow<py::dict>(object));
  }
  return to_tensor(object);
}

ValueMap to_values(const Values& values) {
  ValueMap result;
  for (const auto& [name, value] : values) result[name.cast<std::string>()] = to_value(value);
  return result;
}

Anything from_value(const Value& value) {
  switch (value.kind()) {
    case ValueKind::none:
      return py::none();
    case ValueKind::tensor:
      return py::cast(value.tensor());
    case ValueKind::sequence: {
      py::list result;
      for (const auto& item : value.sequence().values) result.append(from_value(item));
      return result;
    }
    case ValueKind::optional:
      return value.optional().value ? from_value(*value.optional().value) : Anything(py::none());
    case ValueKind::map: {
      py::dict result;
      const Anything values =
          value.map().values ? from_value(*value.map().values) : Anything(py::none());
      std::visit(
          [&](const auto& keys) {
            for (std::size_t i = 0; i < keys.size(); ++i) {
              result[py::cast(keys[i])] = values.attr("__getitem__")(i);
            }
          },
          value.map().keys);
      return result;
    }
  }
  return py::none();
}

Values from_values(const ValueMap& values) {
  Values result;
  for (const auto& [name, value] : values) result[py::cast(name)] = from_value(value);
  return result;
}

Values copy_values(const ValueMap& values) {
  Values result;
  for (const auto& [name, value] : values) {
    result[py::cast(name)] = from_value(value.is_tensor() ? Value(value.tensor().copy()) : value);
  }
  return result;
}

onnx::Attribute to_attribute(const py::handle& object) {
  if (py::isinstance<py::bool_>(object)) return std::int64_t{object.cast<bool>()};
  if (py::isinstance<py::int_>(object)) return object.cast<std::int64_t>();
  if (py::isinstance<py::float_>(object)) return object.cast<float>();
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) {
    const auto items = py::reinterpret_borrow<py::sequence>(object);
    bool all_ints = true, all_strings = items.size() > 0;
    for (const auto& item : items) {
      all_ints &= py::isinstance<py::int_>(item);
      all_strings &= py::isinstance<py::str>(item);
    }
    if (all_strings) return object.cast<std::vector<std::string>>();
    if (all_ints) return object.cast<std::vector<std::int64_t>>();
    return object.cast<std::vector<float>>();
  }
  return to_tensor(object);
}

Anything from_attribute(const onnx::Attribute& attribute) {
  return std::visit(
      []<class T>(const T& value) -> py::object {
        if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, float> ||
                      std::is_same_v<T, std::string> ||
                      std::is_same_v<T, std::vector<std::int64_t>> ||
                      std::is_same_v<T, std::vector<float>> ||
                      std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, Tensor> ||
                      std::is_same_v<T, std::vector<Tensor>>) {
          return py::cast(value);
        } else {
          return py::str("<graph, type or sparse tensor>");
        }
      },
      attribute);
}

namespace {

/// What lies in dicts and lists has dotted keys, as in a recipe: a list of plain values is one
/// text.
void add_setting(Settings& settings, const std::string& key, const py::handle& value) {
  const auto is_nested = [](const py::handle& item) {
    return py::isinstance<py::dict>(item) || py::isinstance<py::list>(item) ||
           py::isinstance<py::tuple>(item);
  };
  if (py::isinstance<py::bool_>(value)) {
    settings.set(key, value.cast<bool>());
  } else if (py::isinstance<py::dict>(value)) {
    for (const auto& [name, item] : py::reinterpret_borrow<py::dict>(value)) {
      add_setting(settings, key + "." + std::string(py::str(name)), item);
    }
  } else if (is_nested(value)) {
    const auto items = py::reinterpret_borrow<py::sequence>(value);
    const bool is_plain = std::none_of(items.begin(), items.end(), is_nested);
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const py::object item = items[i];
      if (is_plain) text += (i == 0 ? "" : ",") + std::string(py::str(item));
      if (!is_plain) add_setting(settings, key + "." + std::to_string(i), item);
    }
    if (is_plain && items.size() > 0) settings.set(key, text);
  } else {
    settings.set(key, std::string(py::str(value)));
  }
}

}  // namespace

Settings to_settings(const py::kwargs& options) {
  Settings settings;
  for (const auto& [name, value] : options) {
    add_setting(settings, name.cast<std::string>(), value);
  }
  return settings;
}

bool overrides(const py::handle& object, const char* base, const char* name) {
  const py::handle type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  if (!py::hasattr(type, name)) return false;
  const py::object own = type.attr(name);
  const py::object inherited = py::module_::import("d5").attr(base);
  return !py::hasattr(inherited, name) || !own.is(inherited.attr(name));
}

}  // namespace d5::python
