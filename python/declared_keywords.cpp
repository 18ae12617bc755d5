// SPDX-License-Identifier: Apache-2.0
#include "declared_keywords.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <ranges>

#include "d5/core/errors/error.hpp"

namespace d5::python {
namespace {

/// Types of arguments, as pybind11 writes them.
std::string type_in_python(const Option& option) {
  const std::string integer = "typing.SupportsInt | typing.SupportsIndex";
  const std::string number = "typing.SupportsFloat | typing.SupportsIndex";
  const auto list = [](const std::string& one) {
    return fmt::format("collections.abc.Sequence[{}]", one);
  };
  static const std::map<std::string, std::string> types{
      {"integer", integer},        {"number", number},        {"flag", "bool"},
      {"integers", list(integer)}, {"numbers", list(number)}, {"texts", list("str")}};
  const auto place = types.find(option.type);
  if (place != types.end()) return place->second;
  return option.is_list ? list("str") : "str";
}

std::string default_in_python(const Option& option) {
  const std::string& text = option.initial;
  if (option.type == "flag") return text == "true" ? "True" : "False";
  if (option.type == "integer" || option.type == "number") return text;
  if (option.type == "integers" || option.type == "numbers") return "[" + text + "]";
  if (!option.is_list) return "'" + text + "'";
  std::vector<std::string> words;
  for (const auto word : std::views::split(text, ',')) {
    words.push_back("'" + std::string(word.begin(), word.end()) + "'");
  }
  return fmt::format("[{}]", fmt::join(words, ", "));
}

bool is_list(const py::handle& value) {
  return py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
}

/// Whether one of a list's values is a text.
bool holds_text(const py::handle& value) {
  return is_list(value) && std::ranges::any_of(value, [](const py::handle& one) {
           return py::isinstance<py::str>(one);
         });
}

/// Checks the values of options, and those below them: groups of parameters have the same options.
void expect_numbers(const py::dict& given, const std::string& who,
                    const std::vector<Option>& declared) {
  const auto look_below = [&](const py::handle& value) {
    if (py::isinstance<py::dict>(value)) {
      expect_numbers(py::reinterpret_borrow<py::dict>(value), who, declared);
    }
  };
  for (const auto& [name, value] : given) {
    if (std::string(py::str(name)) == "schedules") continue;  // names, which are texts
    look_below(value);
    if (py::isinstance<py::list>(value)) std::ranges::for_each(value, look_below);
    const auto option = std::ranges::find(declared, std::string(py::str(name)), &Option::name);
    const bool is_size = option != declared.end() && option->placeholder == "SIZE";  // "25MiB"
    if (option == declared.end() || is_size) continue;
    expect_number(fmt::format("{}: {}", who, option->name), option->type, value);
  }
}

}  // namespace

void expect_number(const std::string& what, const std::string& type, const py::handle& value) {
  static const std::map<std::string, const char*> expected{{"integer", "int"},
                                                           {"number", "float"},
                                                           {"flag", "bool"},
                                                           {"integers", "list[int]"},
                                                           {"numbers", "list[float]"}};
  const auto number = expected.find(type);
  if (number == expected.end()) return;
  const bool is_several = is_list(value) && !type.ends_with('s');
  const bool is_text = py::isinstance<py::str>(value) || holds_text(value);
  if (!value.is_none() && !is_text && !is_several) return;
  throw TypeError(fmt::format("{} is {}, expected {}", what, shown(value), number->second));
}

void expect_dict(const py::handle& object, const std::string& who) {
  if (py::isinstance<py::dict>(object)) return;
  throw TypeError(fmt::format("{} is {}, expected a name, or a dict with a name and settings", who,
                              shown(object)));
}

Settings entry_settings(const py::kwargs& given, const std::string& who,
                        const std::vector<Option>& declared) {
  expect_numbers(given, who, declared);
  Settings settings;
  try {
    settings = to_settings(given);
  } catch (const TypeError& error) {
    throw TypeError(who + ": " + error.what());
  }
  for (const Option& option : declared) {
    if (!option.is_list || !given.contains(option.name.c_str())) continue;
    const py::object value = given[option.name.c_str()];
    if (py::isinstance<py::sequence>(value) && py::len(value) == 0) settings.set(option.name, "");
  }
  return settings;
}

Settings declared_settings(const Options& keywords, const std::string& who,
                           const std::vector<Option>& declared, Untold untold) {
  py::kwargs given;
  for (const auto& [name, value] : keywords) {
    const auto option = std::ranges::find(declared, name.cast<std::string>(), &Option::name);
    if (option == declared.end()) throw py::reference_cast_error();  // as for any wrong call
    if (value.is_none() && untold == Untold::has_default) throw py::reference_cast_error();
    if (value.is_none()) continue;
    given[name] = value;
  }
  return entry_settings(given, who, declared).owned_by(who);
}

void tell_keywords(const py::module_& m, const char* function, const std::vector<Option>& declared,
                   Untold untold) {
  std::string told;
  for (const Option& option : declared) {
    const bool is_none = untold == Untold::as_file_says;
    told += fmt::format("{}{}: {}{} = {}", told.empty() ? "" : ", ", option.name,
                        type_in_python(option), is_none ? " | None" : "",
                        is_none ? "None" : default_in_python(option));
  }
  // pybind11 keeps the text for the interpreter, and frees it with the function.
  auto* definition = reinterpret_cast<PyCFunctionObject*>(m.attr(function).ptr())->m_ml;
  std::string text = definition->ml_doc;
  const std::string any = "**kwargs: typing.Any";
  text.replace(text.find(any), any.size(), told);
  std::free(const_cast<char*>(definition->ml_doc));
  definition->ml_doc = strdup(text.c_str());
}

}  // namespace d5::python
