// SPDX-License-Identifier: Apache-2.0
#include "level1_network/given_inputs.hpp"

#include <fmt/format.h>

#include <optional>

#include "d5/core/errors/error.hpp"

namespace d5::python {
namespace {

std::string type_name(const py::handle& object) {
  return py::str(py::type::of(object).attr("__name__"));
}

/// Returns nullopt if it is no path.
std::optional<std::string> path_of(const py::handle& object) {
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (py::hasattr(object, "__fspath__")) return object.attr("__fspath__")().cast<std::string>();
  return {};
}

/// Strings may be values, too, so files need to be marked as such.
bool is_file(const py::handle& object, const std::string& path) {
  return !py::isinstance<py::str>(object) || path.ends_with(".npy") || path.ends_with(".pb");
}

}  // namespace

GivenInputs to_given_inputs(const py::handle& inputs) {
  GivenInputs given;
  if (inputs.is_none()) return given;
  if (const auto path = path_of(inputs)) {
    given.files = input_files({*path}, "inputs");
  } else if (py::isinstance<py::dict>(inputs)) {
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(inputs)) {
      const auto name = key.cast<std::string>();
      const auto file = path_of(value);
      if (file && is_file(value, *file)) {
        given.files.push_back({name, *file});
      } else {
        given.values[name] = to_value(value);
      }
    }
  } else if (py::isinstance<py::list>(inputs) || py::isinstance<py::tuple>(inputs)) {
    std::vector<std::string> words;
    for (const auto& word : inputs) {
      const auto path = path_of(word);
      if (!path)
        throw TypeError(fmt::format("inputs: a {} in the list, expected paths", type_name(word)));
      words.push_back(*path);
    }
    given.files = input_files(words, "inputs");
  } else {
    throw TypeError(fmt::format("inputs is a {}, expected arrays by name, or paths of files",
                                type_name(inputs)));
  }
  return given;
}

}  // namespace d5::python
