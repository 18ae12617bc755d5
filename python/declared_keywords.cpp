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

/// Throws: TypeError, which names the call.
Settings settings_of(const py::kwargs& given, const std::string& who) {
  try {
    return to_settings(given);
  } catch (const TypeError& error) {
    throw TypeError(who + ": " + error.what());
  }
}

}  // namespace

Settings declared_settings(const Options& keywords, const std::string& who,
                           const std::vector<Option>& declared, Untold untold) {
  py::kwargs given;
  std::vector<std::string> emptied;
  for (const auto& [name, value] : keywords) {
    const auto option = std::ranges::find(declared, name.cast<std::string>(), &Option::name);
    if (option == declared.end()) throw py::reference_cast_error();  // as for any wrong call
    if (value.is_none() && untold == Untold::has_default) throw py::reference_cast_error();
    if (value.is_none()) continue;
    given[name] = value;
    if (option->is_list && py::isinstance<py::sequence>(value) && py::len(value) == 0) {
      emptied.push_back(option->name);
    }
  }
  Settings settings = settings_of(given, who).owned_by(who);
  for (const std::string& name : emptied) settings.set(name, "");
  return settings;
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
