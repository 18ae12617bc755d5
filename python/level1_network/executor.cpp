// SPDX-License-Identifier: Apache-2.0
#include "level1_network.hpp"

#include <fmt/format.h>

#include "d5/core/framework.hpp"
#include "d5/level1_network/level1_network.hpp"

namespace d5::python {
namespace {

const char* word(Pass pass) { return pass == Pass::forward ? "forward" : "backward"; }

/// A Python object's hooks; those that it does not override are not called.
class PythonExecutionEvent final : public ExecutionEvent {
 public:
  explicit PythonExecutionEvent(const py::object& self)
      : self_(self),
        before_run_(overrides(self, "Event", "before_run")),
        after_run_(overrides(self, "Event", "after_run")),
        before_node_(overrides(self, "Event", "before_node")),
        after_node_(overrides(self, "Event", "after_node")),
        gradient_ready_(overrides(self, "Event", "gradient_ready")) {}

  [[nodiscard]] bool listens() const {
    return before_run_ || after_run_ || before_node_ || after_node_ || gradient_ready_;
  }
  void before_run(Pass pass) override {
    if (before_run_) call("before_run", word(pass));
  }
  void after_run(Pass pass) override {
    if (after_run_) call("after_run", word(pass));
  }
  void before_node(const StepInfo& step) override {
    if (before_node_) call("before_node", &step);
  }
  void after_node(const StepInfo& step) override {
    if (after_node_) call("after_node", &step);
  }
  void gradient_ready(Parameter& parameter, std::size_t index, Stream&) override {
    if (gradient_ready_) call("gradient_ready", &parameter, index);
  }

 private:
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) {
    const py::gil_scoped_acquire gil;
    self_.object.attr(name)(py::cast(arguments, py::return_value_policy::reference)...);
  }
  PythonReference self_;
  bool before_run_, after_run_, before_node_, after_node_, gradient_ready_;
};

std::vector<onnx::Dim> to_dims(const py::sequence& dims) {
  std::vector<onnx::Dim> result;
  for (const auto& dim : dims) {
    if (dim.is_none()) {
      result.emplace_back();
    } else if (py::isinstance<py::str>(dim)) {
      result.emplace_back(dim.cast<std::string>());
    } else {
      result.emplace_back(dim.cast<std::int64_t>());
    }
  }
  return result;
}

void bind_network(py::module_& m) {
  py::class_<Parameter>(m, "Parameter", "A trainable tensor; value and gradient are shared memory.")
      .def_readonly("name", &Parameter::name)
      .def_property_readonly("value", [](const Parameter& p) { return p.value; })
      .def_property_readonly("gradient", [](const Parameter& p) { return p.gradient; })
      .def("__repr__", [](const Parameter& p) {
        return fmt::format("<d5.Parameter {} {}>", p.name, to_string(p.value.desc()));
      });

  py::class_<Network>(m, "Network", "A directed acyclic graph of operators and its parameters.")
      .def(py::init<std::string>(), py::arg("name"))
      .def_static("load", &Network::load, py::arg("path"), py::call_guard<py::gil_scoped_release>(),
                  "Loads and validates an ONNX file.")
      .def("save", &Network::save, py::arg("path"), "Writes an ONNX file.")
      .def(
          "add_input",
          [](Network& n, const std::string& name, const std::string& dtype,
             const py::sequence& shape) {
            n.add_input(name, dtype_from_name(dtype), to_dims(shape));
          },
          py::arg("name"), py::arg("dtype"), py::arg("shape"),
          "`shape`: numbers, names of symbolic dimensions, or None.")
      .def("add_output", &Network::add_output, py::arg("name"))
      .def(
          "add_parameter",
          [](Network& n, const std::string& name, const py::object& value) {
            n.add_parameter(name, to_tensor(value));
          },
          py::arg("name"), py::arg("value"))
      .def(
          "add_constant",
          [](Network& n, const std::string& name, const py::object& value) {
            n.add_constant(name, to_tensor(value));
          },
          py::arg("name"), py::arg("value"))
      .def(
          "add_node",
          [](Network& n, const std::string& op_type, std::vector<std::string> inputs,
             std::vector<std::string> outputs, const std::string& name, const std::string& domain,
             const py::kwargs& attributes) {
            std::map<std::string, onnx::Attribute, std::less<>> converted;
            for (const auto& [key, value] : attributes) {
              converted[key.cast<std::string>()] = to_attribute(value);
            }
            onnx::Node& node = n.add_node(op_type, std::move(inputs), std::move(outputs),
                                          std::move(converted), name);
            if (!domain.empty()) node.domain = domain;
          },
          py::arg("op_type"), py::arg("inputs"), py::arg("outputs"), py::kw_only(),
          py::arg("name") = "", py::arg("domain") = "", "Attributes are further keywords.")
      .def_property_readonly("name", &Network::name)
      .def_property_readonly("nodes", [](const Network& n) { return n.graph().nodes; })
      .def_property_readonly("input_names", &Network::input_names)
      .def_property_readonly("output_names", &Network::output_names)
      .def_property_readonly(
          "parameters",
          [](Network& n) {
            py::list result;
            for (Parameter& p : n.parameters()) result.append(Parameter(p));
            return result;
          },
          "In the order in which backpropagation finishes their gradients.")
      .def(
          "fetch", [](const Network& n, const std::string& name) { return n.fetch(name); },
          py::arg("name"), "A parameter or constant, sharing its memory.")
      .def(
          "feed",
          [](Network& n, const std::string& name, const py::object& value) {
            n.feed(name, to_tensor(value));
          },
          py::arg("name"), py::arg("value"), "Overwrites a parameter or constant.");

  m.def(
      "model",
      [](const std::string& name, const py::kwargs& options) {
        return models().at(name).make(to_settings(options));
      },
      py::arg("name"),
      "A built-in network with seeded random weights, such as model(\"lenet\", seed=1, "
      "with_loss=True).");
  m.def("models", [] { return models().names(); });
}

std::shared_ptr<GraphExecutor> make(Network network, std::vector<std::string> names,
                                    std::uint64_t seed, std::vector<std::string> input_gradients) {
  return make_executor(std::move(network), {.frameworks = std::move(names),
                                            .seed = seed,
                                            .input_gradients = std::move(input_gradients)});
}

void bind_step_info(py::module_& m) {
  py::class_<StepInfo>(m, "StepInfo", "One step of a plan; valid inside the hook that gets it.")
      .def_property_readonly("node", [](const StepInfo& s) { return onnx::Node(s.node); })
      .def_readonly("step", &StepInfo::step, "Its place in the plan.")
      .def_property_readonly("direction", [](const StepInfo& s) { return word(s.pass); })
      .def_property_readonly("framework",
                             [](const StepInfo& s) { return std::string(s.framework); })
      .def_property_readonly("device", [](const StepInfo& s) { return to_string(s.device); })
      .def_property_readonly(
          "flop", [](const StepInfo& s) { return s.cost.flop; }, "Of the node's forward run.")
      .def_property_readonly(
          "bytes", [](const StepInfo& s) { return s.cost.bytes_read + s.cost.bytes_written; },
          "Read and written by the node's forward run.");
}

void bind_executor(py::module_& m) {
  py::class_<GraphExecutor, std::shared_ptr<GraphExecutor>>(m, "GraphExecutor", "Runs a network.")
      .def(
          "inference",
          [](GraphExecutor& executor, const py::dict& inputs, bool copy) {
            const ValueMap fed = to_values(inputs);
            const ValueMap* outputs = nullptr;
            {
              const py::gil_scoped_release release;
              outputs = &executor.inference(fed);
            }
            return copy ? copy_values(*outputs) : from_values(*outputs);
          },
          py::arg("inputs"), py::kw_only(), py::arg("copy") = true,
          "All outputs by name. With copy=False they are valid until the next run.")
      .def(
          "inference_and_backprop",
          [](GraphExecutor& executor, const py::dict& inputs, const std::string& loss, bool copy) {
            const ValueMap fed = to_values(inputs);
            const ValueMap* outputs = nullptr;
            {
              const py::gil_scoped_release release;
              outputs = &executor.inference_and_backprop(fed, loss);
            }
            return copy ? copy_values(*outputs) : from_values(*outputs);
          },
          py::arg("inputs"), py::arg("loss") = "loss", py::kw_only(), py::arg("copy") = true,
          "As inference, then writes every parameter's gradient.")
      .def(
          "input_gradient",
          [](const GraphExecutor& executor, const std::string& name) {
            return executor.input_gradient(name);
          },
          py::arg("name"))
      .def(
          "add_event",
          [](GraphExecutor& executor, const py::object& event) {
            auto adapter = execution_event(event);
            if (!adapter) {
              throw TypeError(
                  "the event overrides no hook of an executor: before_run, after_run, "
                  "before_node, after_node, gradient_ready");
            }
            executor.events().add(std::move(adapter));
          },
          py::arg("event"))
      .def_property_readonly("network", [](GraphExecutor& executor) { return executor.network(); })
      .def_property_readonly("framework", &GraphExecutor::framework);

  m.def("executor", &make, py::arg("network"),
        py::arg("frameworks") = std::vector<std::string>{"reference"}, py::kw_only(),
        py::arg("seed") = 0, py::arg("input_gradients") = std::vector<std::string>{},
        "An executor that runs each node with the first of `frameworks` that supports it.");
}

}  // namespace

std::shared_ptr<Event> execution_event(const py::object& object) {
  auto adapter = std::make_shared<PythonExecutionEvent>(object);
  return adapter->listens() ? adapter : nullptr;
}

void bind_level1_network(py::module_& m) {
  bind_network(m);
  bind_step_info(m);
  bind_executor(m);
}

}  // namespace d5::python
