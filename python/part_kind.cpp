// SPDX-License-Identifier: Apache-2.0
#include "part_kind.hpp"

#include <fmt/format.h>

#include <map>

#include "d5/core/errors/error.hpp"

namespace d5::python {
namespace {

/// Entries of this process by kind and name. Guarded by the GIL.
std::map<std::pair<std::string, std::string>, SharedEntry>& python_entries() {
  static std::map<std::pair<std::string, std::string>, SharedEntry> all;
  return all;
}

void add_entry(const std::string& kind, const std::string& name, const py::object& made,
               const std::string& summary, std::vector<PythonOption> options) {
  const PartKind& how = part_kinds().at(kind);
  auto& known = python_entries()[{kind, name}];
  if (!known) {
    const auto entry = std::make_shared<PythonEntry>();
    entry->name = name;
    entry->who = kind + " " + name;
    entry->options.all = std::move(options);
    entry->made = std::make_shared<PythonReference>(made);
    how.add(summary, entry);
    known = entry;
    return;
  }
  if (known->options.all != options) {
    throw ValueError(
        fmt::format("{} '{}' is there already with other options; give this one another name", kind,
                    printable(name)));
  }
  known->made = std::make_shared<PythonReference>(made);
}

std::string class_name(const py::object& part) {
  return std::string(py::str(py::type::of(part).attr("__name__")));
}

}  // namespace

void PythonOptions::declare(OptionList& options) {
  for (auto& [name, value, help] : all) {
    std::visit([&](auto& of_its_type) { options.add(name, of_its_type, help); }, value);
  }
}

py::dict PythonOptions::keywords() const {
  py::dict result;
  for (const auto& [name, value, help] : all) result[py::cast(name)] = py::cast(value);
  return result;
}

py::object PythonEntry::call(const py::tuple& needs, const PythonOptions& own) const {
  return made->object(*needs, **own.keywords());
}

bool is_in_python(const std::string& kind, const std::string& name) {
  return python_entries().contains({kind, name});
}

Registry<PartKind>& part_kinds() {
  static Registry<PartKind> all("kind of part");
  return all;
}

OwnedName owned_name(const std::string& name, char between, const char* what) {
  const auto place = name.find(between);
  if (place == std::string::npos) {
    throw ValueError(fmt::format(
        "{} '{}' belongs to no framework; expected FRAMEWORK{}NAME, of one that d5.register added",
        what, printable(name), between));
  }
  return {name.substr(0, place), name.substr(place + 1)};
}

py::object named(const py::object& made, const std::string& name) {
  if (py::hasattr(made, "name")) made.attr("name") = name;
  return made;
}

void throw_made_other(const py::handle& object, const std::string& expected) {
  throw TypeError(fmt::format("it made {}; expected {}", shown(object), expected));
}

std::uint64_t drawn_seed(RandomStream& random) {
  const std::uint64_t high = random.bits();
  return high << 32 | random.bits();
}

void expect_derived(const py::object& made, const std::string& base) {
  if (py::isinstance(made, py::module_::import("d5").attr(base.c_str()))) return;
  throw_made_other(made, "a d5." + base);
}

void let_derive(const py::object& type) {
  py::module_::import("d5._deriving").attr("let_derive")(type);
}

void throw_lacks_method(const py::object& part, const char* name, const char* expected) {
  throw TypeError(
      fmt::format("{} has no method {}; expected {}", class_name(part), name, expected));
}

void throw_returned(const py::object& part, const char* method, const py::handle& given,
                    const std::string& expected) {
  throw TypeError(fmt::format("{}.{} returned {}, expected {}", class_name(part), method,
                              shown(given), expected));
}

void bind_part_kinds(py::module_& m) {
  m.def("_add_entry", &add_entry, py::arg("kind"), py::arg("name"), py::arg("made"),
        py::arg("summary"), py::arg("options"), "Adds a part in Python to its registry.");
  m.def(
      "_part_kinds",
      [] {
        std::map<std::string, std::pair<std::string, int>> all;
        for (const auto& [kind, how] : part_kinds().entries()) all[kind] = {how.base, how.needs};
        return all;
      },
      "For each kind, by the words of `d5 list`: the base class of its parts, or \"\" for a "
      "function, and the number of arguments before its options.");
}

}  // namespace d5::python
