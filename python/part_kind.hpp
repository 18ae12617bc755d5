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
#include "errors.hpp"

namespace d5::python {

/// An option of what is written in Python: name, what it is by itself, help.
using PythonOption =
    std::tuple<std::string, std::variant<bool, std::int64_t, double, std::string>, std::string>;

/// What a class's `__init__` takes, known at run time alone.
struct PythonOptions {
  std::vector<PythonOption> all;

  void declare(OptionList& options);
  [[nodiscard]] py::dict keywords() const;
};

/// What makes the parts of an entry: a class, or a function. A notebook's cell may put another in
/// its place.
struct PythonEntry {
  std::string name, who;
  PythonOptions options;
  std::shared_ptr<PythonReference> made;

  /// A part, called with what parts of the kind need and the options. With the GIL.
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

/// A kind of part that can be written in Python and has names.
struct PartKind {
  std::string base;  ///< the class of d5's that one derives from; empty: it is a function
  int needs = 0;     ///< with how much it is called before its options
  /// Makes the entry's name known.
  std::function<void(const std::string& summary, const SharedEntry& entry)> add;
};
/// "optimizer", "sample step", ...: the words of `d5 list`. The files of parts/ add them.
[[nodiscard]] Registry<PartKind>& part_kinds();

/// `make(entry, needs..., options)` makes a part, with the GIL; `needs` are what parts of the
/// registry need.
template <class EntryOf, class Make>
void add_to(Registry<EntryOf>& registry, const std::string& name, const std::string& summary,
            const SharedEntry& entry, const Make& make) {
  const auto factory = [entry, make](auto&&... given) {
    const py::gil_scoped_acquire gil;
    return make(*entry, std::forward<decltype(given)>(given)...);
  };
  registry.add(name, EntryOf::template with<PythonOptions>(summary, factory, entry->options));
}

/// The same as a `PartKind::add`, where all names of the kind are in one registry.
template <class EntryOf, class Make>
auto adding_to(Registry<EntryOf>& registry, const Make& make) {
  return [&registry, make](const std::string& summary, const SharedEntry& entry) {
    add_to(registry, entry->name, summary, entry, make);
  };
}

/// Whose a framework's own part is, and what it is called there.
struct OwnedName {
  std::string framework, name;
};
/// Of "FRAMEWORK:NAME". Throws: ValueError.
[[nodiscard]] OwnedName owned_name(const std::string& name, char between, const char* what);

/// What was made, which knows its name from now on, if it has one.
[[nodiscard]] py::object named(const py::object& made, const std::string& name);
/// Throws: TypeError that names what was made instead.
[[noreturn]] void throw_made_other(const py::handle& object, const std::string& expected);

/// What a class in Python made, which is of the class that C++ knows. It lives as long as this.
template <class Part>
std::shared_ptr<Part> expected_part(const py::object& made, const std::string& what) {
  if (!py::isinstance<Part>(made)) throw_made_other(made, what);
  return made.cast<std::shared_ptr<Part>>();
}

/// A kind whose parts need nothing but their options: `base` is the class that one derives from,
/// `kind` its word where the registry's is short.
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

/// `d5.one(name, **options)` makes a part of the registry, `d5.all()` are its names.
template <class Part, class EntryOf>
void bind_by_name(py::module_& m, Registry<EntryOf>& registry, const char* one, const char* all) {
  m.def(
      one,
      [&registry](const std::string& name, const Options& options) {
        const Settings settings = to_settings(options);
        const py::gil_scoped_release released;
        return std::const_pointer_cast<Part>(registry.at(name).make(settings));
      },
      py::arg("name"), "One by its name; its options are keywords.");
  m.def(all, [&registry] { return registry.names(); });
}

/// A number for a generator of Python's, drawn here.
[[nodiscard]] std::uint64_t drawn_seed(RandomStream& random);

/// A class that may be derived from without calling its `__init__`.
void let_derive(const py::object& type);

/// Throws: TypeError, unless what a class in Python made is derived from d5's `base`, which is
/// written in Python, too.
void expect_derived(const py::object& made, const std::string& base);

/// The method of a part in Python that its class does not have from d5's own; empty if there is
/// none. With the GIL.
template <class Part>
[[nodiscard]] py::function override_of(const Part* part, const char* name) {
  const py::object base = py::type::of<Part>();
  const py::handle own = reinterpret_cast<PyObject*>(Py_TYPE(py::cast(part).ptr()));
  const bool inherits =
      py::hasattr(base, name) && py::hasattr(own, name) && own.attr(name).is(base.attr(name));
  return inherits ? py::function() : py::get_override(part, name);
}

/// The method of a part in Python. Throws: TypeError, where there is none, with what was expected.
/// With the GIL.
template <class Part>
[[nodiscard]] py::function method_of(const Part* part, const char* name, const char* expected);

[[noreturn]] void throw_lacks_method(const py::object& part, const char* name,
                                     const char* expected);
/// Throws: TypeError about what a method returned.
[[noreturn]] void throw_returned(const py::object& part, const char* method,
                                 const py::handle& given, const std::string& expected);

template <class Part>
py::function method_of(const Part* part, const char* name, const char* expected) {
  if (py::function found = override_of(part, name)) return found;
  throw_lacks_method(py::cast(part), name, expected);
}

/// What a method returned, arrays by name. Throws: TypeError where it is no dict.
template <class Part>
Values returned_arrays(const Part* part, const char* method, const py::object& given,
                       const char* expected = "a dict of arrays by name") {
  if (!py::isinstance<py::dict>(given)) throw_returned(py::cast(part), method, given, expected);
  return py::reinterpret_borrow<Values>(given);
}

}  // namespace d5::python
