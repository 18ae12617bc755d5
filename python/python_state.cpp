// SPDX-License-Identifier: Apache-2.0
#include "python_state.hpp"

#include <fmt/format.h>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::python {
namespace {

std::string class_name_of(const py::handle& self) {
  return py::str(py::type::of(self).attr("__name__"));
}

/// Throws: TypeError, for lists too, which are values of networks, but have no place in a
/// checkpoint.
Tensor to_array(const py::handle& value, const std::string& who) {
  const bool is_array = !value.is_none() && !py::isinstance<py::list>(value) &&
                        !py::isinstance<py::tuple>(value) && !py::isinstance<py::dict>(value);
  try {
    if (is_array) return to_tensor(value);
  } catch (const TypeError&) {
  }
  throw_answer(value, who, "an array or a number, as a checkpoint stores it");
}

}  // namespace

ValueMap to_state(const py::handle& said, const std::string& who) {
  ValueMap state;
  for (const auto& [key, value] : answered<py::dict>(said, who, "a dict of arrays by name")) {
    const auto name = if_it_fits<std::string>(key);
    if (!name) throw_answer(key, who + ": a name", "a text");
    state[*name] = to_array(value, fmt::format("{}: '{}'", who, printable(*name)));
  }
  return state;
}

ValueMap python_state_of(const PythonReference& self) {
  return call_python([&] {
    return to_state(self.object.attr("state")(), class_name_of(self.object) + ".state()");
  });
}

void expect_state_pair(const py::handle& self, const char* base) {
  const bool gives = overrides(self, base, "state"), takes = overrides(self, base, "restore");
  if (gives == takes) return;
  throw TypeError(fmt::format(
      "class {} has {}, and lacks {}: a training that is resumed would go on without its state; "
      "give it both",
      class_name_of(self), gives ? "state()" : "restore(state)",
      gives ? "restore(state)" : "state()"));
}

}  // namespace d5::python
