// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <memory>
#include <variant>

#include "bindings.hpp"
#include "d5/core/error.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "errors.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level2_training/optimization/python_optimizer.hpp"
#include "level2_training/optimization/python_schedule.hpp"
#include "level2_training/optimization/python_step_modifier.hpp"
#include "level2_training/training/python_metric.hpp"
#include "level3_distributed/python_scheme.hpp"

namespace d5::python {
namespace {

/// An option of a class in Python: name, what it is by itself, help.
using PythonOption =
    std::tuple<std::string, std::variant<bool, std::int64_t, double, std::string>, std::string>;

/// What a class's `__init__` takes, known at run time alone.
struct PythonOptions {
  std::vector<PythonOption> all;

  void declare(OptionList& options) {
    for (auto& [name, value, help] : all) {
      std::visit([&](auto& of_its_type) { options.add(name, of_its_type, help); }, value);
    }
  }
  [[nodiscard]] py::dict keywords() const {
    py::dict result;
    for (const auto& [name, value, help] : all) result[py::cast(name)] = py::cast(value);
    return result;
  }
};

/// What makes the parts of an entry; a notebook's cell may put another in its place.
struct PythonEntry {
  std::string who;
  PythonOptions options;
  std::shared_ptr<PythonReference> made;

  template <class F>
  auto make(const PythonOptions& own, const F& part_of, const py::tuple& needs) const {
    try {
      return part_of(made->object(*needs, **own.keywords()));
    } catch (py::error_already_set& raised) {
      throw_as_d5(raised, who);
    }
  }
};

/// All of this process by kind and name; guarded by the GIL.
std::map<std::pair<std::string, std::string>, std::shared_ptr<PythonEntry>>& python_entries() {
  static std::map<std::pair<std::string, std::string>, std::shared_ptr<PythonEntry>> all;
  return all;
}

py::object held(const std::shared_ptr<const Dataset>& dataset) {
  return py::cast(std::const_pointer_cast<Dataset>(dataset));
}

template <class T>
T expected(const py::handle& object, const char* what) {
  if (py::isinstance<typename T::element_type>(object)) return object.cast<T>();
  throw TypeError(fmt::format("it made {}; expected {}", std::string(py::repr(object)), what));
}

DatasetPair pair_of(const py::object& made) {
  constexpr const char* what = "a data set, or a tuple of two: for training and for tests";
  if (py::isinstance<DatasetPair>(made)) return made.cast<DatasetPair>();
  const auto part = [&](const py::handle& object) {
    return expected<std::shared_ptr<Dataset>>(object, what);
  };
  if (!py::isinstance<py::tuple>(made)) return {.train = part(made), .test = nullptr};
  const py::tuple parts = made;
  if (parts.size() != 2)
    throw TypeError(fmt::format("it made {} parts; expected {}", parts.size(), what));
  return {.train = part(parts[0]), .test = part(parts[1])};
}

/// The sampler in Python lives as long as C++ holds it.
std::shared_ptr<Sampler> sampler_of(const py::object& made) {
  const auto owner = std::make_shared<PythonReference>(made);
  return {owner, expected<std::shared_ptr<Sampler>>(made, "a d5.Sampler").get()};
}

/// `factory` is given the options behind what parts of the kind need.
template <class EntryOf, class F>
void add_to(Registry<EntryOf>& registry, const std::string& name, const std::string& summary,
            const std::shared_ptr<PythonEntry>& entry, const F& factory) {
  registry.add(name, EntryOf::template with<PythonOptions>(summary, factory, entry->options));
}

/// For parts that need nothing.
template <class Product, class F>
auto making(const std::shared_ptr<PythonEntry>& entry, const F& part_of) {
  return [entry, part_of](const PythonOptions& own) -> Product {
    const py::gil_scoped_acquire gil;
    return entry->make(own, part_of, py::tuple());
  };
}

void add_by_kind(const std::string& kind, const std::string& name, const std::string& summary,
                 const std::shared_ptr<PythonEntry>& entry) {
  const auto named = [name](const py::object& made) {
    if (py::hasattr(made, "name")) made.attr("name") = name;
    return made;
  };
  if (kind == "optimizer") {
    add_to(optimizers(), name, summary, entry,
           [entry](std::shared_ptr<GraphExecutor> executor, std::string loss,
                   const PythonOptions& own) {
             const py::gil_scoped_acquire gil;
             const auto of = [&](const py::object& made) {
               return to_optimizer(made, std::move(executor), std::move(loss));
             };
             return entry->make(own, of, py::tuple());
           });
  } else if (kind == "step modifier") {
    const auto of = [named](const py::object& made) { return to_step_modifier(named(made)); };
    add_to(step_modifiers(), name, summary, entry,
           making<std::shared_ptr<StepModifier>>(entry, of));
  } else if (kind == "schedule") {
    add_to(schedules(), name, summary, entry,
           making<std::shared_ptr<Schedule>>(entry, &to_schedule));
  } else if (kind == "metric") {
    const auto of = [named](const py::object& made) { return to_metric(named(made)); };
    add_to(metrics(), name, summary, entry, making<std::shared_ptr<Metric>>(entry, of));
  } else if (kind == "dataset") {
    add_to(datasets(), name, summary, entry, [entry](const Interrupt&, const PythonOptions& own) {
      const py::gil_scoped_acquire gil;
      return entry->make(own, &pair_of, py::tuple());
    });
  } else if (kind == "distributed optimizer") {
    add_to(distributed_optimizers(), name, summary, entry,
           [entry](std::shared_ptr<ThreeStepOptimizer> optimizer,
                   std::shared_ptr<Communicator> ranks, const PythonOptions& own) {
             const py::gil_scoped_acquire gil;
             const auto of = [&](const py::object& made) {
               return to_scheme(made, std::move(optimizer), std::move(ranks));
             };
             return entry->make(own, of, py::tuple());
           });
  } else {
    add_to(samplers(), name, summary, entry,
           [entry](std::shared_ptr<const Dataset> data, const PythonOptions& own) {
             const py::gil_scoped_acquire gil;
             return entry->make(own, &sampler_of, py::make_tuple(held(data)));
           });
  }
}

void add(const std::string& kind, const std::string& name, const py::object& made,
         const std::string& summary, std::vector<PythonOption> options) {
  auto& known = python_entries()[{kind, name}];
  if (!known) {
    const auto entry =
        std::make_shared<PythonEntry>(PythonEntry{.who = kind + " " + name,
                                                  .options = {std::move(options)},
                                                  .made = std::make_shared<PythonReference>(made)});
    add_by_kind(kind, name, summary, entry);
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

}  // namespace

void bind_python_entries(py::module_& m) {
  m.def("_add_entry", &add, py::arg("kind"), py::arg("name"), py::arg("made"), py::arg("summary"),
        py::arg("options"), "Adds a part that is written in Python to its registry.");
}

}  // namespace d5::python
