// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/random.hpp"
#include "declared_keywords.hpp"
#include "errors.hpp"

namespace d5::python {

/// An option of a part in Python: name, default, help.
using PythonOption =
    std::tuple<std::string, std::variant<bool, std::int64_t, double, std::string>, std::string>;

/// The options of a class's `__init__`, known only at run time.
struct PythonOptions {
  std::vector<PythonOption> all;

  void declare(OptionList& options);
  [[nodiscard]] py::dict keywords() const;
};

/// The callable that makes an entry's parts: a class, or a function. A notebook's cell may replace
/// it.
struct PythonEntry {
  std::string name, who;
  PythonOptions options;
  std::shared_ptr<PythonReference> made;

  /// Makes a part, from what parts of the kind need and the options. Call with the GIL.
  [[nodiscard]] py::object call(const py::tuple& needs, const PythonOptions& own) const;

  template <class F>
  auto make(const PythonOptions& own, const F& part_of,
            const py::tuple& needs = py::tuple()) const {
    try {
      return part_of(call(needs, own));
    } catch (py::error_already_set& raised) {
      throw_as_d5(raised, who);
    }
  }
};
using SharedEntry = std::shared_ptr<PythonEntry>;

/// A kind of named parts that can be written in Python.
struct PartKind {
  std::string base;  ///< base class in d5; empty: it is a function
  int needs = 0;     ///< number of arguments before the options
  /// Registers the entry.
  std::function<void(const std::string& summary, const SharedEntry& entry)> add;
};
/// "optimizer", "sample step", ...: the words of `d5 list`. The files of parts/ add them.
[[nodiscard]] Registry<PartKind>& part_kinds();
/// Whether the entry was added in Python. Call with the GIL.
[[nodiscard]] bool is_in_python(const std::string& kind, const std::string& name);

/// `make(entry, needs..., options)` makes a part, with the GIL; `needs` are the arguments that
/// parts of the registry require.
template <class EntryOf, class Make>
void add_to(Registry<EntryOf>& registry, const std::string& name, const std::string& summary,
            const SharedEntry& entry, const Make& make) {
  const auto factory = [entry, make](auto&&... given) {
    const py::gil_scoped_acquire gil;
    return make(*entry, std::forward<decltype(given)>(given)...);
  };
  registry.add(name, EntryOf::template with<PythonOptions>(summary, factory, entry->options));
}

/// The same as a `PartKind::add`, for a kind with one registry.
template <class EntryOf, class Make>
auto adding_to(Registry<EntryOf>& registry, const Make& make) {
  return [&registry, make](const std::string& summary, const SharedEntry& entry) {
    add_to(registry, entry->name, summary, entry, make);
  };
}

/// The framework of a part, and its name there.
struct OwnedName {
  std::string framework, name;
};
/// Reads "FRAMEWORK:NAME". Throws: ValueError.
[[nodiscard]] OwnedName owned_name(const std::string& name, char between, const char* what);

/// Sets the name of a new part, if parts of its kind have one.
[[nodiscard]] py::object named(const py::object& made, const std::string& name);
/// Throws: TypeError that describes what was made instead.
[[noreturn]] void throw_made_other(const py::handle& object, const std::string& expected);

/// The C++ object of a part that a Python class made. It lives as long as this.
template <class Part>
std::shared_ptr<Part> expected_part(const py::object& made, const std::string& what) {
  if (!py::isinstance<Part>(made)) throw_made_other(made, what);
  return made.cast<std::shared_ptr<Part>>();
}

/// Adds a kind whose parts need only their options: `base` is the base class, `kind` its word if
/// the registry's is short.
template <class Part, class EntryOf>
void add_part_kind(Registry<EntryOf>& registry, const char* base, const char* kind = nullptr) {
  const auto make = [base](const PythonEntry& entry, const PythonOptions& own) {
    return entry.make(own, [base](const py::object& made) {
      return expected_part<Part>(made, std::string("a d5.") + base);
    });
  };
  part_kinds().add(kind ? kind : registry.kind(),
                   {.base = base, .needs = 0, .add = adding_to(registry, make)});
}

/// Binds `d5.one(name, **options)`, which makes a part of the registry, and `d5.all()`, which
/// returns their names.
template <class Part, class EntryOf>
void bind_by_name(py::module_& m, Registry<EntryOf>& registry, const char* one, const char* all) {
  m.def(
      one,
      [&registry, who = std::string("d5.") + one](const std::string& name, const Options& options) {
        const Settings settings = entry_settings(options, who, registry, name);
        const py::gil_scoped_release released;
        return std::const_pointer_cast<Part>(registry.at(name).make(settings));
      },
      py::arg("name"), "Makes a part by its name; its options are keywords.");
  m.def(all, [&registry] { return registry.names(); });
}

/// A seed for a Python random generator, drawn here.
[[nodiscard]] std::uint64_t drawn_seed(RandomStream& random);

/// A class that may be derived from without calling its `__init__`. Its attribute `_hooks` names
/// methods that derived classes may have and it has not.
void let_derive(const py::object& type);

/// Throws: TypeError, unless what a Python class made derives from d5's `base`, which is a Python
/// class, too.
void expect_derived(const py::object& made, const std::string& base);

/// The method that a part's class defines itself instead of inheriting it from d5's; empty if there
/// is none. Call with the GIL.
template <class Part>
[[nodiscard]] py::function override_of(const Part* part, const char* name) {
  const py::object base = py::type::of<Part>();
  const py::handle own = reinterpret_cast<PyObject*>(Py_TYPE(py::cast(part).ptr()));
  const bool inherits =
      py::hasattr(base, name) && py::hasattr(own, name) && own.attr(name).is(base.attr(name));
  const bool is_none = py::hasattr(own, name) && own.attr(name).is_none();
  return inherits || is_none ? py::function() : py::get_override(part, name);
}

/// The method of a part in Python. Throws: TypeError with what was expected, if there is none. Call
/// with the GIL.
template <class Part>
[[nodiscard]] py::function method_of(const Part* part, const char* name, const char* expected);

[[noreturn]] void throw_lacks_method(const py::object& part, const char* name,
                                     const char* expected);
/// Throws: TypeError about a method's result.
[[noreturn]] void throw_returned(const py::object& part, const char* method,
                                 const py::handle& given, const std::string& expected);

template <class Part>
py::function method_of(const Part* part, const char* name, const char* expected) {
  if (py::function found = override_of(part, name)) return found;
  throw_lacks_method(py::cast(part), name, expected);
}

/// A method's result, arrays by name. Throws: TypeError if it is no dict.
template <class Part>
Values returned_arrays(const Part* part, const char* method, const py::object& given,
                       const char* expected = "a dict of arrays by name") {
  if (!py::isinstance<py::dict>(given)) throw_returned(py::cast(part), method, given, expected);
  return py::reinterpret_borrow<Values>(given);
}

}  // namespace d5::python
