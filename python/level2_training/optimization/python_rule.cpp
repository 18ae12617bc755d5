// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/python_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "in_place.hpp"
#include "lent_inputs.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

py::object made_by(const SharedEntry& entry, const PythonOptions& options) {
  const auto of = [](const py::object& made) {
    expect_derived(made, "UpdateRule");
    if (!overrides(made, "UpdateRule", "update")) {
      throw_lacks_method(made, "update", "update(gradient, value, *slots)");
    }
    return made;
  };
  return entry->make(options, of);
}

template <class T>
Tensor seen(const Shape& shape, std::span<T> values) {
  return Tensor::borrow({dtype_of<std::remove_const_t<T>>, shape},
                        const_cast<std::remove_const_t<T>*>(values.data()));
}

/// The result of a rule's first update. Throws: TypeError, if it binds names instead of writing.
py::object seen_first(const py::object& update, const py::list& arguments) {
  return py::module_::import("d5._rebinding").attr("watched_update")(update, arguments);
}

std::string class_of_rule(const py::object& rule) {
  return py::str(py::type::of(rule).attr("__name__"));
}

std::vector<std::string> names_of(const py::object& rule, const char* attribute) {
  const std::string who = fmt::format("the update rule {}: {}", class_of_rule(rule), attribute);
  return answered<std::vector<std::string>>(rule.attr(attribute), who, "a tuple of names");
}

/// Throws: ValueError for a name that stands twice among the slots and numbers, which would have
/// one place in a checkpoint.
void expect_distinct(const py::object& rule, std::vector<std::string> names,
                     const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return;
  throw ValueError(
      fmt::format("the update rule {}: slots and numbers name '{}' twice, which a checkpoint would "
                  "store once; expected a name for each",
                  class_of_rule(rule), printable(*twice)));
}

}  // namespace

PythonRule::PythonRule(SharedEntry entry, PythonOptions options)
    : entry_(std::move(entry)),
      options_(std::move(options)),
      self_(made_by(entry_, options_)),
      slots_(names_of(self_.object, "slots")),
      numbers_(names_of(self_.object, "numbers")),
      begins_(overrides(self_.object, "UpdateRule", "begin_step")),
      shapes_slots_(overrides(self_.object, "UpdateRule", "slot_shape")) {
  expect_distinct(self_.object, slots_, numbers_);
  if (slots_.size() > TensorUpdate<float>::kMostSlots) {
    throw ValueError("an update rule in Python remembers " + std::to_string(slots_.size()) +
                     " tensors of a parameter; expected at most " +
                     std::to_string(TensorUpdate<float>::kMostSlots));
  }
}

Shape PythonRule::slot_shape(std::size_t slot, const Shape& parameter) const {
  if (!shapes_slots_) return parameter;
  return call_python([&] {
    const std::vector<std::int64_t> dims(parameter.begin(), parameter.end());
    const py::object said =
        self_.object.attr("slot_shape")(slots_[slot], py::tuple(py::cast(dims)));
    const auto own =
        answered<std::vector<std::int64_t>>(said, self_.object, "slot_shape()", "a shape");
    if (std::ranges::all_of(own, [](auto size) { return size >= 0; })) return Shape(own);
    throw ValueError(fmt::format("{}.slot_shape('{}', {}) gave {}, expected sizes of 0 or more",
                                 class_of_rule(self_.object), printable(slots_[slot]),
                                 to_string(parameter), shown(said)));
  });
}

void PythonRule::begin_step(std::int64_t step, std::span<double> numbers,
                            const PythonOptions& options) {
  call_python([&] {
    const py::dict initial = options_.keywords();
    for (const auto& [name, value] : options.keywords()) {
      if (py::hasattr(self_.object, name)) {
        py::setattr(self_.object, name, value);
      } else if (!value.equal(initial[name])) {
        expect_kept(name.cast<std::string>());
      }
    }
    if (!begins_) return;
    py::dict carried;
    for (std::size_t i = 0; i < numbers.size(); ++i) carried[py::cast(numbers_[i])] = numbers[i];
    expect_in_place(self_.object.attr("begin_step")(step, carried), self_.object, "begin_step()",
                    "numbers['NAME'] = ...");
    for (const auto& [key, value] : carried) {
      const auto name = py::str(key).cast<std::string>();
      if (std::ranges::find(numbers_, name) != numbers_.end()) continue;
      throw ValueError(fmt::format(
          "{}: begin_step() wrote numbers['{}'], which is not carried to the next step; name it in "
          "the class: numbers = (\"{}\",)",
          entry_->who, printable(name), printable(name)));
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = answered<double>(carried[py::cast(numbers_[i])], self_.object, "begin_step()",
                                    "a number for each of `numbers`");
    }
  });
}

void PythonRule::expect_kept(const std::string& option) const {
  if (py::hasattr(self_.object, option.c_str())) return;
  throw ValueError(fmt::format(
      "{}: __init__ takes {}, and keeps no attribute of this name, so that a schedule would change "
      "nothing; write self.{} = {}",
      entry_->who, printable(option), printable(option), printable(option)));
}

bool PythonRule::has_formula_of(const UpdateRule& other) const {
  const auto* in_python = dynamic_cast<const PythonRule*>(&other);
  return in_python && in_python->entry_ == entry_;
}

void PythonRule::update(std::span<const RuleParameter> parameters) {
  for (const RuleParameter& parameter : parameters) {
    Parameter seen{.name = {}, .value = parameter.value, .gradient = {}};
    update(parameter.gradient, seen, parameter.slots, parameter.master);
  }
}

void PythonRule::update(const Tensor& gradient, Parameter& parameter,
                        std::span<Tensor* const> slots, float* master) {
  updater_.update(gradient, parameter, slots, master, [&]<class T>(const TensorUpdate<T>& update) {
    const Tensor read = seen(update.shape, update.gradient);
    const Tensor value = seen(update.shape, update.value);
    call_python([&] {
      const LeaseScope rule("an update rule's call");
      py::list arguments;
      arguments.append(lend_input(read, rule.lease()));
      arguments.append(lend(value, rule.lease()));
      for (Tensor* slot : slots) arguments.append(lend(*slot, rule.lease()));
      const py::object method = self_.object.attr("update");
      const py::object answer = is_seen_ ? method(*arguments) : seen_first(method, arguments);
      is_seen_ = true;
      expect_in_place(answer, self_.object, "update()", "value -= ..., value[...] = ...");
    });
  });
}

}  // namespace d5::python
