// SPDX-License-Identifier: Apache-2.0
#include "level1_network/executor.hpp"

#include <fmt/format.h>

#include <variant>

#include "collected.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/level1_network/level1_network.hpp"
#include "in_place.hpp"
#include "lent_outputs.hpp"
#include "level1_network/network.hpp"
#include "level1_network/python_executor.hpp"
#include "long_call.hpp"
#include "result_keeps_self.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

constexpr const char* kExecutorHelp =
    R"(Runs a network; base class of executors in Python.

    class Doubling(d5.GraphExecutor):
        framework = "doubling"
        def inference(self, inputs):
            return {"y": 2 * np.asarray(inputs["x"])}
        def inference_and_backprop(self, inputs, loss):
            self.network.parameters[0].gradient.numpy()[...] = ...
            return self.inference(inputs)

    executor = Doubling(network)

Optimizers, trainers, tests and measurements accept it like any other executor. `inputs` are d5.Tensor,
valid during the call alone. It returns all outputs of `self.network` by name. Backpropagation writes every
parameter's gradient; an executor without it is for inference. `state` and `restore` are for an executor
that draws random numbers. An `__init__` of its own calls `super().__init__(network)`.)";

using LentStep = Lent<const StepInfo>;

const char* word(Pass pass) { return pass == Pass::forward ? "forward" : "backward"; }

/// The hooks of a Python object; hooks that it does not override are not called.
class PythonExecutionEvent final : public ExecutionEvent, public HoldsPython {
 public:
  explicit PythonExecutionEvent(const py::object& self)
      : self_(self),
        before_run_(overrides(self, "Event", "before_run")),
        after_run_(overrides(self, "Event", "after_run")),
        before_pass_(overrides(self, "Event", "before_pass")),
        after_pass_(overrides(self, "Event", "after_pass")),
        before_node_(overrides(self, "Event", "before_node")),
        after_node_(overrides(self, "Event", "after_node")),
        before_nested_node_(overrides(self, "Event", "before_nested_node")),
        after_nested_node_(overrides(self, "Event", "after_nested_node")),
        gradient_ready_(overrides(self, "Event", "gradient_ready")) {}

  [[nodiscard]] bool listens() const {
    return before_run_ || after_run_ || before_pass_ || after_pass_ || before_node_ ||
           after_node_ || before_nested_node_ || after_nested_node_ || gradient_ready_;
  }
  [[nodiscard]] py::handle held() const override { return self_.object; }
  void before_run(Pass pass) override {
    if (before_run_) call("before_run", word(pass));
  }
  void after_run(Pass pass) override {
    if (after_run_) call("after_run", word(pass));
  }
  void before_pass(Pass pass) override {
    if (before_pass_) call("before_pass", word(pass));
  }
  void after_pass(Pass pass) override {
    if (after_pass_) call("after_pass", word(pass));
  }
  void before_node(const StepInfo& step) override {
    if (before_node_) call_with("before_node", step);
  }
  void after_node(const StepInfo& step) override {
    if (after_node_) call_with("after_node", step);
  }
  void before_nested_node(const StepInfo& step) override {
    if (before_nested_node_) call_with("before_nested_node", step);
  }
  void after_nested_node(const StepInfo& step) override {
    if (after_nested_node_) call_with("after_nested_node", step);
  }
  void gradient_ready(Parameter& parameter, std::size_t index, Stream&) override {
    if (gradient_ready_) call("gradient_ready", Parameter(parameter), index);
  }

 private:
  template <class... Arguments>
  void call(const char* name, const Arguments&... arguments) {
    call_python([&] { expect_unread(self_.object.attr(name)(arguments...), self_.object, name); });
  }
  void call_with(const char* name, const StepInfo& step) {
    call_python([&] {
      const LeaseScope hook("a hook's call");
      expect_unread(self_.object.attr(name)(LentStep(step, hook.lease())), self_.object, name);
    });
  }
  PythonReference self_;
  bool before_run_, after_run_, before_pass_, after_pass_, before_node_, after_node_,
      before_nested_node_, after_nested_node_, gradient_ready_;
};

/// A number of bytes, or a size in words.
using Size = std::variant<std::size_t, std::string>;

std::size_t bytes_of(const Size& size) {
  const auto* words = std::get_if<std::string>(&size);
  return words ? byte_count(*words) : std::get<std::size_t>(size);
}

std::shared_ptr<GraphExecutor> make(Network network, const std::vector<std::string>& names,
                                    std::uint64_t seed, std::vector<std::string> gradients,
                                    bool parameter_gradients,
                                    const std::vector<std::string>& placement,
                                    const Size& memory_limit, std::vector<std::string> recompute) {
  ExecutorOptions options{.seed = seed,
                          .gradients = std::move(gradients),
                          .parameter_gradients = parameter_gradients,
                          .memory_limit = bytes_of(memory_limit),
                          .recompute = std::move(recompute)};
  for (const auto& rule : placement) options.placement.push_back(placement_rule(rule));
  return open_executor(ExecutorWord(names), std::move(network), std::move(options));
}

void show_executor(const py::handle& self, Shown& shown) {
  auto* executor = self.cast<GraphExecutor*>();
  if (is_in_use(executor) || dynamic_cast<PythonExecutor*>(executor)) return;
  if (is_sole_owner<GraphExecutor>(self)) shown.show(executor->events());
}

void bind_step_info(py::module_& m) {
  py::class_<LentStep>(m, "StepInfo", "One step of a plan; valid during the hook that receives it.")
      .def_property_readonly(
          "node", [](const LentStep& s) { return onnx::Node(s->node); },
          "The d5.Node that the step runs.")
      .def_property_readonly(
          "path", [](const LentStep& s) { return s->path; },
          "The node's name, after that of the node whose graph it is in: "
          "'If_0/then_branch/Conv_3'.")
      .def_property_readonly(
          "step", [](const LentStep& s) { return s->step; }, "Its position in the plan.")
      .def_property_readonly(
          "direction", [](const LentStep& s) { return word(s->pass); },
          "\"forward\" or \"backward\".")
      .def_property_readonly(
          "framework", [](const LentStep& s) { return std::string(s->framework); },
          "Framework of the kernel; all candidates, \"torch,reference\", if shapes are known only "
          "at run time.")
      .def_property_readonly(
          "device", [](const LentStep& s) { return to_string(s->device); },
          "Device that runs the step: \"cpu\", \"cuda:0\".")
      .def_property_readonly(
          "flop", [](const LentStep& s) { return s->cost.flop; }, "FLOP of the node's forward run.")
      .def_property_readonly(
          "layout", [](const LentStep& s) { return s->layout; },
          "Layout of the first output, if its framework chooses one: 'nhwc'. Empty: row-major.")
      .def_property_readonly(
          "recomputed", [](const LentStep& s) { return s->recomputed; },
          "Whether it recomputes the node's forward run within backward.")
      .def_property_readonly(
          "bytes", [](const LentStep& s) { return s->cost.bytes_read + s->cost.bytes_written; },
          "Bytes that the node's forward run reads and writes.");
}

Values run(GraphExecutor& executor, const Values& inputs, bool copy,
           const std::function<const ValueMap*(const ValueMap&)>& work) {
  const Use use(&executor, "the executor");
  const ValueMap fed = to_values(inputs);
  const ValueMap* outputs = nullptr;
  long_call(executor, [&] { outputs = work(fed); });
  if (copy) return named_outputs(copy_values(*outputs));
  return named_outputs(from_values(*outputs, lease_until_next_use(&executor, "an executor's run")));
}

}  // namespace

void expect_object(const py::object& observer) {
  const std::string given = shown(observer);
  if (PyType_Check(observer.ptr())) {
    throw TypeError(fmt::format("the event is {}, a class; expected an object of it: {}()", given,
                                observer.attr("__name__").cast<std::string>()));
  }
  if (!PyFunction_Check(observer.ptr()) && !PyMethod_Check(observer.ptr())) return;
  throw TypeError(fmt::format(
      "the event is {}, a function; expected an object of a class derived from d5.Event, whose "
      "method it is: after_batch(self, trainer, batch, outputs), before_node(self, step)",
      given));
}

void throw_without_hooks(const py::object& event, const char* words) {
  if (py::isinstance(event, py::module_::import("d5").attr("Event"))) throw TypeError(words);
  throw TypeError(fmt::format(
      "the event is {}, expected an object of a class derived from d5.Event", shown(event)));
}

std::shared_ptr<Event> execution_event(const py::object& object) {
  auto adapter = std::make_shared<PythonExecutionEvent>(object);
  return adapter->listens() ? adapter : nullptr;
}

void bind_batch_in_flight(py::module_& m) {
  py::class_<BatchInFlight>(m, "BatchInFlight",
                            "A batch between its forward and its backward run; several may be "
                            "under way at once.")
      .def_property_readonly(
          "outputs", [](const BatchInFlight& batch) { return copy_values(batch.outputs()); },
          "Copies of the forward run's outputs, by name.")
      .def(
          "backward",
          [](BatchInFlight& batch, const Values& output_gradients) {
            const ValueMap given = to_values(output_gradients);
            const py::gil_scoped_release released;
            batch.backward(given);
          },
          py::arg("output_gradients"),
          "Writes every parameter's gradient; output gradients that are left out count as zeros.")
      .def(
          "gradient",
          [](const BatchInFlight& batch, const std::string& name) { return batch.gradient(name); },
          py::arg("name"), "After backward: same as GraphExecutor.gradient.");
}

void bind_executor(py::module_& m) {
  bind_step_info(m);
  bind_batch_in_flight(m);
  py::classh<GraphExecutor, PythonExecutor>(m, "GraphExecutor", kExecutorHelp,
                                            seen_by_collector<&show_executor>())
      .def(py::init<Network>(), py::arg("network"), "For a class in Python.")
      .def(
          "inference",
          [](GraphExecutor& executor, const Values& inputs, bool copy) {
            return run(executor, inputs, copy,
                       [&](const ValueMap& fed) { return &executor.inference(fed); });
          },
          py::arg("inputs"), py::kw_only(), py::arg("copy") = true,
          "Returns all outputs by name. With copy=False they are valid until the next run.")
      .def(
          "inference_and_backprop",
          [](GraphExecutor& executor, const Values& inputs, const std::string& loss, bool copy) {
            return run(executor, inputs, copy, [&](const ValueMap& fed) {
              return &executor.inference_and_backprop(fed, loss);
            });
          },
          py::arg("inputs"), py::arg("loss") = "loss", py::kw_only(), py::arg("copy") = true,
          "Runs inference, then writes every parameter's gradient.")
      .def(
          "forward",
          [](py::object self, const Values& inputs, const std::vector<std::string>& outputs) {
            auto& executor = self.cast<GraphExecutor&>();
            const Use use(&executor, "the executor");
            const ValueMap fed = to_values(inputs);
            std::unique_ptr<BatchInFlight> batch;
            long_call(executor, [&] { batch = executor.forward(fed, outputs); });
            return batch;
          },
          py::arg("inputs"), py::arg("outputs"), result_keeps_self(),
          "Runs forward. Backward follows later, from given gradients of `outputs`.")
      .def(
          "gradient",
          [](const GraphExecutor& executor, const std::string& name) {
            return executor.gradient(name);
          },
          py::arg("name"),
          "After inference_and_backprop, until the next run: the gradient of a parameter, or of a "
          "tensor in `gradients`.")
      .def("end_run", &GraphExecutor::end_run,
           "Ends this run after the current step; call it from an observer's hook. Outputs that "
           "were not computed are absent; the next run is complete.")
      .def_property_readonly("ended_early", &GraphExecutor::ended_early,
                             "Whether the last run was ended early.")
      .def(
          "add_event",
          [](GraphExecutor& executor, const Anything& event) {
            expect_object(event);
            auto adapter = execution_event(event);
            if (!adapter) {
              throw_without_hooks(
                  event,
                  "the event overrides no hook of an executor: before_run, after_run, before_pass, "
                  "after_pass, before_node, after_node, before_nested_node, after_nested_node, "
                  "gradient_ready");
            }
            executor.events().add(std::move(adapter));
          },
          py::arg("event").none(false),
          "Adds an observer with hooks of d5.Event, such as after_node. Raises TypeError if it "
          "overrides none of an executor's hooks.")
      .def_property(
          "mode",
          [](const GraphExecutor& executor) { return std::string(name_of(executor.mode())); },
          [](GraphExecutor& executor, const std::string& mode) {
            const Use use(&executor, "the executor");
            executor.set_mode(network_mode_from_name(mode));
          },
          "Behaviour of batch normalization and dropout: 'as_written', 'training' or 'inference'.")
      .def_property_readonly(
          "network", [](GraphExecutor& executor) -> Network& { return executor.network(); },
          py::return_value_policy::reference_internal, "The network that it runs.")
      .def_property_readonly("framework", &GraphExecutor::framework,
                             "Frameworks in the order of preference, or an executor of a "
                             "framework's own: \"torch,reference\", \"torch:torch\".")
      .def(
          "state", [](const GraphExecutor& executor) { return copy_values(executor.state()); },
          "State needed to continue besides the network, such as positions in random streams.")
      .def(
          "restore",
          [](GraphExecutor& executor, const Values& state) { executor.restore(to_values(state)); },
          py::arg("state"),
          "Restores the result of `state`. Raises NotFound or TypeError for that of another kind "
          "of executor.")
      .def("__repr__", [](GraphExecutor& executor) {
        return fmt::format("<d5.GraphExecutor in {} of {}>", executor.framework(),
                           describe(executor.network()));
      });

  m.def(
      "test_numeric_gradients",
      [](GraphExecutor& executor, const Values& inputs, const std::string& loss,
         std::int64_t elements, std::uint64_t seed) {
        const Use use(&executor, "the executor");
        const ValueMap fed = to_values(inputs);
        std::vector<Measurement> results;
        long_call([&](const Interrupt& interrupt) {
          results = test_numeric_gradients(executor, fed, loss,
                                           {.elements = elements, .seed = seed}, interrupt);
        });
        return Measurements(results);
      },
      py::arg("executor").none(false), py::arg("inputs"), py::arg("loss") = "loss", py::kw_only(),
      py::arg("elements") = 8, py::arg("seed") = 0,
      "Compares gradients with what the executor computes: some elements of each parameter's "
      "gradient with finite differences in float64. Returns a record per parameter.");
  m.def("executor", &make, py::arg("network"),
        py::arg("frameworks") = std::vector<std::string>{"reference"}, py::kw_only(),
        py::arg("seed") = 0, py::arg("gradients") = std::vector<std::string>{},
        py::arg("parameter_gradients") = true, py::arg("placement") = std::vector<std::string>{},
        py::arg("memory_limit") = std::size_t{0}, py::arg("recompute") = std::vector<std::string>{},
        py::call_guard<py::gil_scoped_release>(),
        "Makes an executor that runs each node with the first of `frameworks` that supports it. "
        "[\"torch:torch\"], a framework with the name of an executor of its own, runs the whole "
        "graph there.\n\n"
        "gradients: tensors whose gradients backpropagation computes besides the parameters': "
        "inputs, constants, values between nodes.\n"
        "parameter_gradients: False computes those of `gradients` alone.\n"
        "placement: rules for nodes that run elsewhere; the first that matches decides: "
        "[\"Conv=torch\", \"node:fc*=reference\"].\n"
        "memory_limit: memory limit of a plan, as bytes, or \"512MiB\".\n"
        "recompute: nodes and layers that backward recomputes instead of keeping their outputs, or "
        "[\"auto\"]: as many as `memory_limit` requires.");
}

}  // namespace d5::python
