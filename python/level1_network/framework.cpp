// SPDX-License-Identifier: Apache-2.0
#include "d5/core/framework.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "bindings.hpp"
#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/framework_kernel.hpp"

namespace d5::python {
namespace {

using OperatorName = std::pair<std::string, std::string>;  // domain, name
using Plans = std::map<OperatorName, std::shared_ptr<const PythonReference>>;

/// What was added last under a framework's name. Frameworks stay as long as the process; what they
/// plan with may be replaced. The GIL is never taken with `mutex_` held.
class PythonFramework : public std::enable_shared_from_this<PythonFramework> {
 public:
  PythonFramework(std::string name, std::string version)
      : name_(std::move(name)), version_(std::move(version)) {}

  [[nodiscard]] const std::string& version() const { return version_; }
  void replace(Plans plans) {
    {
      const std::lock_guard lock(mutex_);
      plans_.swap(plans);
    }
    // Here the former ones go.
  }
  /// Adds the operators that are new.
  void fill(OperatorRegistry& registry) {
    const std::lock_guard lock(mutex_);
    for (const auto& [op, plan] : plans_) {
      if (registered_.insert(op).second) add(registry, op);
    }
  }

 private:
  void add(OperatorRegistry& registry, const OperatorName& op) {
    const auto self = shared_from_this();
    registry.add_kernel(
        op.second, {.domain = op.first},
        [self, op](PlanContext& context) {
          if (const auto plan = self->plan(op)) return plan_kernel(self->name_, *plan, context);
          throw Unsupported(context.who() + ": its kernel was replaced meanwhile");
        },
        [self, op](const PlanContext& context) { return self->supports(op, context); });
  }
  [[nodiscard]] std::shared_ptr<const PythonReference> plan(const OperatorName& op) const {
    const std::lock_guard lock(mutex_);
    const auto place = plans_.find(op);
    return place == plans_.end() ? nullptr : place->second;
  }
  [[nodiscard]] Support supports(const OperatorName& op, const PlanContext& context) const {
    if (!plan(op)) return {"operator " + op.second + " any more"};
    const auto is_other = [](const ValueDesc& value) {
      return !value.is_tensor() && value.kind != ValueKind::none;
    };
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (context.has_input(i) && is_other(context.value(i))) {
        return {"a value that is no tensor: " + to_string(context.value(i))};
      }
    }
    for (std::size_t k = 0; k < context.output_count(); ++k) {
      if (is_other(context.output_value(k))) {
        return {"a value that is no tensor: " + to_string(context.output_value(k))};
      }
    }
    return {};
  }

  const std::string name_, version_;
  mutable std::mutex mutex_;
  Plans plans_;
  std::set<OperatorName> registered_;
};

/// Those of this process, by name: guarded by the GIL.
std::map<std::string, std::shared_ptr<PythonFramework>>& python_frameworks() {
  static std::map<std::string, std::shared_ptr<PythonFramework>> all;
  return all;
}

std::string text_of(const py::handle& framework, const char* attribute) {
  const py::object value = py::getattr(framework, attribute, py::none());
  if (py::isinstance<py::str>(value) && py::len(value) > 0) return value.cast<std::string>();
  throw ValueError(fmt::format("{}: its {} is {}, expected a text",
                               std::string(py::str(py::type::handle_of(framework))), attribute,
                               std::string(py::repr(value))));
}

std::string name_of_framework(const py::handle& framework) {
  const std::string name = text_of(framework, "name");
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  };
  if (std::ranges::all_of(name, is_plain) && name != "auto" && name != "all") return name;
  throw ValueError(fmt::format(
      "'{}' is no name of a framework; expected small letters, digits, '_', '-', '.' alone",
      printable(name)));
}

Plans plans_of(const py::handle& framework) {
  Plans plans;
  for (const auto& [key, plan] : py::dict(framework.attr("kernels"))) {
    const auto name = key.cast<std::string>();
    const auto dot = name.rfind('.');
    const OperatorName op = dot == std::string::npos
                                ? OperatorName("", name)
                                : OperatorName(name.substr(0, dot), name.substr(dot + 1));
    if (!PyCallable_Check(plan.ptr())) {
      throw TypeError(
          fmt::format("kernels['{}'] is {}; expected something to call with a "
                      "d5.PlanContext that returns a d5.Kernel",
                      printable(name), std::string(py::repr(plan))));
    }
    plans[op] = std::make_shared<PythonReference>(py::reinterpret_borrow<py::object>(plan));
  }
  if (plans.empty()) throw ValueError("a framework without kernels: 'kernels' is empty");
  return plans;
}

void add_python_framework(const Anything& framework) {
  const std::string name = name_of_framework(framework);
  const std::string version = text_of(framework, "version");
  Plans plans = plans_of(framework);
  auto& known = python_frameworks();
  if (const auto place = known.find(name); place != known.end()) {
    const auto former = place->second;
    if (former->version() != version) {
      throw ValueError(
          fmt::format("framework '{}' is there already as version {}, this is {}; "
                      "another version needs another process",
                      name, former->version(), version));
    }
    former->replace(std::move(plans));
    const py::gil_scoped_release released;
    former->fill(d5::framework(name).part<OperatorRegistry>());
    return;
  }
  const auto added = std::make_shared<PythonFramework>(name, version);
  added->replace(std::move(plans));
  {
    const py::gil_scoped_release released;
    add_framework(name, version,
                  [added](Framework& made) { added->fill(made.part<OperatorRegistry>()); });
  }
  known[name] = added;
}

}  // namespace

void bind_framework(py::module_& m) {
  m.def("_add_framework", &add_python_framework, py::arg("framework"),
        "Adds a framework that is written in Python.");
}

}  // namespace d5::python
