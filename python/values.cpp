// SPDX-License-Identifier: Apache-2.0
// Conversion of values between Python and d5.
#include <fmt/format.h>

#include "answered.hpp"
#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "lent_inputs.hpp"

namespace d5::python {
namespace {

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
      throw TypeError(fmt::format("a map has the key {}; expected texts, or integers", shown(key)));
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
  for (const auto& [name, value] : values) {
    auto text = if_it_fits<std::string>(name);
    if (!text) throw_answer(name, "a name of a dict of arrays", "a text");
    result[*std::move(text)] = to_value(value);
  }
  return result;
}

namespace {

using Lend = Anything (*)(const Tensor&, const SharedLease&);

Anything converted(const Value& value, const SharedLease& lease, Lend lend) {
  switch (value.kind()) {
    case ValueKind::none:
      return py::none();
    case ValueKind::tensor:
      return lend(value.tensor(), lease);
    case ValueKind::sequence: {
      py::list result;
      for (const auto& item : value.sequence().values) result.append(converted(item, lease, lend));
      return result;
    }
    case ValueKind::optional:
      return value.optional().value ? converted(*value.optional().value, lease, lend)
                                    : Anything(py::none());
    case ValueKind::map: {
      py::dict result;
      const Anything values =
          value.map().values ? converted(*value.map().values, lease, lend) : Anything(py::none());
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

Values all_converted(const ValueMap& values, const SharedLease& lease, Lend lend) {
  Values result;
  for (const auto& [name, value] : values) result[py::cast(name)] = converted(value, lease, lend);
  return result;
}

}  // namespace

Anything from_value(const Value& value, const SharedLease& lease) {
  return converted(value, lease, &lend);
}

Values from_values(const ValueMap& values, const SharedLease& lease) {
  return all_converted(values, lease, &lend);
}

Values lent_inputs(const ValueMap& values, const SharedLease& lease) {
  return all_converted(values, lease, &lend_input);
}

Values copy_values(const ValueMap& values) {
  Values result;
  for (const auto& [name, value] : values) {
    result[py::cast(name)] = from_value(value.is_tensor() ? Value(value.tensor().copy()) : value);
  }
  return result;
}

onnx::Attribute to_attribute(const py::handle& object) {
  if (py::isinstance(object, py::module_::import("numpy").attr("generic"))) {
    return to_attribute(object.attr("item")());
  }
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

/// A number, a flag, a text or a path as text. Throws: TypeError for another object, whose words
/// would pass for a setting.
Settings::Value plain_setting(const std::string& key, const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::hasattr(value, "__fspath__")) return std::string(py::str(value.attr("__fspath__")()));
  if (py::hasattr(value, "tolist")) return plain_setting(key, value.attr("tolist")());
  const bool is_number = py::hasattr(value, "__index__") || py::hasattr(value, "__float__");
  const bool is_text = py::isinstance<py::str>(value);
  if (is_text || is_number) return {std::string(py::str(value)), is_text};
  throw TypeError(fmt::format(
      "{} is {}, expected a text, a number, a flag, or a list or dict of them", key, shown(value)));
}

/// Flattens dicts and lists to dotted keys, as in a recipe; a list of plain values becomes one
/// text.
void add_setting(Settings& settings, const std::string& key, const py::handle& value) {
  const auto is_nested = [](const py::handle& item) {
    return py::isinstance<py::dict>(item) || py::isinstance<py::list>(item) ||
           py::isinstance<py::tuple>(item);
  };
  if (py::hasattr(value, "tolist")) {  // NumPy's and torch's
    add_setting(settings, key, value.attr("tolist")());
  } else if (py::isinstance<py::dict>(value)) {
    for (const auto& [name, item] : py::reinterpret_borrow<py::dict>(value)) {
      add_setting(settings, key + "." + std::string(py::str(name)), item);
    }
  } else if (is_nested(value)) {
    const auto items = py::reinterpret_borrow<py::sequence>(value);
    const bool is_plain = std::none_of(items.begin(), items.end(), is_nested);
    Settings::Value joined = "";
    for (std::size_t i = 0; i < items.size(); ++i) {
      const py::object item = items[i];
      if (!is_plain) {
        add_setting(settings, key + "." + std::to_string(i), item);
        continue;
      }
      const Settings::Value plain = plain_setting(key, item);
      joined.text += (i == 0 ? "" : ",") + plain.text;
      joined.is_text |= plain.is_text;
    }
    if (is_plain && items.size() > 0) settings.set(key, joined);
  } else {
    settings.set(key, plain_setting(key, value));
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

std::string shown(const py::handle& object) {
  return py::module_::import("d5._parameters").attr("shown")(object).cast<std::string>();
}

bool overrides(const py::handle& object, const char* base, const char* name) {
  const py::handle type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  if (!py::hasattr(type, name)) return false;
  const py::object own = type.attr(name);
  const py::object inherited = py::module_::import("d5").attr(base);
  return !py::hasattr(inherited, name) || !own.is(inherited.attr(name));
}

}  // namespace d5::python
