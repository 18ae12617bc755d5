// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "part_kind.hpp"

namespace d5::python {

/// Binds the class `name` of a kind of collective: d5's algorithms by name, and the base class of
/// those in Python, `InPython`; `all` returns their names. `start` is yet to be bound.
template <class Algorithm, class InPython, class EntryOf>
py::classh<Algorithm, InPython> bind_collective(py::module_& m, Registry<EntryOf>& registry,
                                                const char* name, const char* all,
                                                const char* help) {
  py::classh<Algorithm, InPython> algorithm(m, name, help);
  algorithm.def(py::init<>())
      .def(py::init([&registry, who = std::string("d5.") + name](const std::string& which,
                                                                 const Options& options) {
             return registry.at(which).make(entry_settings(options, who, registry, which));
           }),
           py::arg("name"), "Makes an algorithm by its name; its options are keywords.");
  let_derive(algorithm);
  add_part_kind<Algorithm>(registry, name);
  m.def(all, [&registry] { return registry.names(); });
  return algorithm;
}

}  // namespace d5::python
