// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings.hpp"
#include "d5/core/trace/event.hpp"

namespace d5::python {

/// A C++ object that calls a Python object: a hook, an optimizer's rule.
class HoldsPython {
 public:
  HoldsPython() = default;
  HoldsPython(const HoldsPython&) = delete;
  HoldsPython& operator=(const HoldsPython&) = delete;
  [[nodiscard]] virtual py::handle held() const = 0;

 protected:
  ~HoldsPython() = default;
};

/// Shows objects to Python's garbage collector.
struct Shown {
  visitproc visit;
  void* argument;
  int result = 0;

  void show(const py::handle& object) {
    if (object && result == 0) result = visit(object.ptr(), argument);
  }
  /// Shows what one owner holds; an event that others share is not shown.
  void show(const EventList& events) {
    for (const auto& event : events.all()) {
      const auto* python = dynamic_cast<const HoldsPython*>(event.get());
      if (python && event.use_count() == 1) show(python->held());
    }
  }
  /// Shows what py::keep_alive keeps for it.
  void show_kept_by(const py::handle& nurse) {
    py::detail::with_internals([&](py::detail::internals& all) {
      const auto place = all.patients.find(nurse.ptr());
      if (place == all.patients.end()) return;
      for (PyObject* kept : place->second) show(kept);
    });
  }
};

/// Makes reference cycles through the class's objects known to the garbage collector: `show(self,
/// shown)` shows the objects that `self` alone owns. Nothing is cleared here, because every such
/// cycle contains a Python object, which the collector clears.
template <void (*show)(const py::handle& self, Shown& shown)>
py::custom_type_setup seen_by_collector() {
  return py::custom_type_setup([](PyHeapTypeObject* heap_type) {
    PyTypeObject& type = heap_type->ht_type;
    type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) -> int {
      Py_VISIT(Py_TYPE(self));
      // The collector may run while an object of a new class gets its memory.
      const auto* object = reinterpret_cast<const py::detail::instance*>(self);
      const bool has_memory = object->simple_layout || object->nonsimple.values_and_holders;
      if (!has_memory || !py::detail::is_holder_constructed(self)) return 0;
      Shown shown{visit, arg};
      try {
        show(self, shown);
      } catch (...) {  // an object that is not shown is not collected
        return 0;
      }
      return shown.result;
    };
  });
}

/// Whether `self` alone owns its contents, and so what those hold.
template <class T>
bool is_sole_owner(const py::handle& self) {
  constexpr long kHereAndThere = 2;
  return self.cast<std::shared_ptr<T>>().use_count() == kHereAndThere;
}

}  // namespace d5::python
