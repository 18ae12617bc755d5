// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/framework.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/execution/model_executor.hpp"
#include "level0_ops/framework_kernel.hpp"
#include "level1_network/framework_model.hpp"

namespace d5::python {
namespace {

using OperatorName = std::pair<std::string, std::string>;  // domain, name
/// Python callables by what they are for.
template <class Key>
using Callables = std::map<Key, std::shared_ptr<const PythonReference>>;
struct Parts {
  Callables<OperatorName> kernels;   ///< called with a d5.PlanContext
  Callables<std::string> executors;  ///< called with a d5.ModelPlan
};

/// The parts that were added last under a framework's name. Frameworks live as long as the process;
/// their callables may be replaced. The GIL is never taken while `mutex_` is held.
class PythonFramework : public std::enable_shared_from_this<PythonFramework> {
 public:
  PythonFramework(std::string name, std::string version)
      : name_(std::move(name)), version_(std::move(version)) {}

  [[nodiscard]] const std::string& version() const { return version_; }
  void replace(Parts parts) {
    {
      const std::lock_guard lock(mutex_);
      std::swap(parts_, parts);
    }
    // Releases the former callables.
  }
  /// Adds the operators and executors that are new.
  void fill(Framework& framework) {
    const std::lock_guard lock(mutex_);
    for (const auto& [op, plan] : parts_.kernels) {
      if (registered_.insert(op).second) add(framework.part<OperatorRegistry>(), op);
    }
    auto& executors = framework.part<ExecutorRegistry>();
    for (const auto& [executor, compile] : parts_.executors) {
      if (!executors.find(executor)) add(executors, executor);
    }
  }

 private:
  void add(OperatorRegistry& registry, const OperatorName& op) {
    const auto self = shared_from_this();
    registry.add_kernel(
        op.second, {.domain = op.first},
        [self, op](PlanContext& context) {
          const auto plan = self->find(self->parts_.kernels, op);
          if (plan) return plan_kernel(self->name_, *plan, context);
          throw Unsupported(context.who() + ": its kernel was replaced meanwhile");
        },
        [self, op](const PlanContext& context) { return self->supports(op, context); });
  }
  void add(ExecutorRegistry& registry, const std::string& executor) {
    const auto compile = [self = shared_from_this(), executor](const onnx::Model& model,
                                                               const ModelTarget& target) {
      const auto compiler = self->find(self->parts_.executors, executor);
      if (compiler) return compile_model(self->name_, *compiler, model, target);
      throw Unsupported(fmt::format("{} has no executor '{}' any more", self->name_, executor));
    };
    registry.add(executor,
                 {"whole networks, as its Python compiles them",
                  [compile, name = name_](Network network, const ExecutorOptions& options) {
                    return make_model_executor(std::move(network), options, name, compile);
                  }});
  }
  template <class Key>
  [[nodiscard]] std::shared_ptr<const PythonReference> find(const Callables<Key>& callables,
                                                            const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto place = callables.find(key);
    return place == callables.end() ? nullptr : place->second;
  }
  [[nodiscard]] Support supports(const OperatorName& op, const PlanContext& context) const {
    if (!find(parts_.kernels, op)) return {"operator " + op.second + " any more"};
    const auto is_other = [](const ValueDesc& value) {
      return !value.is_tensor() && value.kind != ValueKind::none;
    };
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (context.has_input(i) && is_other(context.value(i))) {
        return {"a value that is not a tensor: " + to_string(context.value(i))};
      }
    }
    for (std::size_t k = 0; k < context.output_count(); ++k) {
      if (is_other(context.output_value(k))) {
        return {"a value that is not a tensor: " + to_string(context.output_value(k))};
      }
    }
    return {};
  }

  const std::string name_, version_;
  mutable std::mutex mutex_;
  Parts parts_;
  std::set<OperatorName> registered_;
};

/// Frameworks of this process, by name. Guarded by the GIL.
std::map<std::string, std::shared_ptr<PythonFramework>>& python_frameworks() {
  static std::map<std::string, std::shared_ptr<PythonFramework>> all;
  return all;
}

std::string text_of(const py::handle& framework, const char* attribute) {
  const py::object value = py::getattr(framework, attribute, py::none());
  if (py::isinstance<py::str>(value) && py::len(value) > 0) return value.cast<std::string>();
  throw ValueError(fmt::format("{}: its {} is {}, expected a text",
                               std::string(py::str(py::type::handle_of(framework))), attribute,
                               shown(value)));
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

OperatorName operator_name(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot == std::string::npos ? OperatorName("", name)
                                  : OperatorName(name.substr(0, dot), name.substr(dot + 1));
}

/// Reads the dict that is a framework's `attribute`. `expected` describes the arguments and results
/// of its values.
Callables<std::string> callables_of(const py::dict& all, const char* attribute,
                                    const char* expected) {
  Callables<std::string> callables;
  for (const auto& [key, value] : all) {
    const auto name = key.cast<std::string>();
    if (!PyCallable_Check(value.ptr())) {
      throw TypeError(fmt::format("{}['{}'] is {}; expected a callable for {}", attribute,
                                  printable(name), shown(value), expected));
    }
    callables[name] = std::make_shared<PythonReference>(py::reinterpret_borrow<py::object>(value));
  }
  return callables;
}

Parts parts_of(const py::handle& framework, const py::dict& executors, bool has_others) {
  Parts parts;
  for (auto& [name, plan] : callables_of(py::getattr(framework, "kernels", py::dict()), "kernels",
                                         "a d5.PlanContext that returns a d5.Kernel")) {
    parts.kernels[operator_name(name)] = plan;
  }
  parts.executors =
      callables_of(executors, "executors", "a d5.ModelPlan that returns what runs the network");
  if (has_others || !parts.kernels.empty() || !parts.executors.empty()) return parts;
  throw ValueError(
      "a framework without kernels: 'kernels', 'executors' and 'optimizers' are empty");
}

void add_python_framework(const Anything& framework, const Values& executors, bool has_others) {
  const std::string name = name_of_framework(framework);
  const std::string version = text_of(framework, "version");
  Parts parts = parts_of(framework, executors, has_others);
  auto& known = python_frameworks();
  if (const auto place = known.find(name); place != known.end()) {
    const auto former = place->second;
    if (former->version() != version) {
      throw ValueError(
          fmt::format("framework '{}' is there already as version {}, this is {}; "
                      "another version needs another process",
                      name, former->version(), version));
    }
    former->replace(std::move(parts));
    const py::gil_scoped_release released;
    former->fill(d5::framework(name));
    return;
  }
  const auto added = std::make_shared<PythonFramework>(name, version);
  added->replace(std::move(parts));
  {
    const py::gil_scoped_release released;
    add_framework(name, version, [added](Framework& made) { added->fill(made); });
  }
  known[name] = added;
}

}  // namespace

void bind_framework(py::module_& m) {
  m.def("_add_framework", &add_python_framework, py::arg("framework"), py::arg("executors"),
        py::arg("has_others"), "Adds a framework that is written in Python.");
}

}  // namespace d5::python
