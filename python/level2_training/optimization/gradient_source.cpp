// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "lent_outputs.hpp"
#include "level1_network/network.hpp"
#include "level2_training/optimization/python_gradients.hpp"
#include "long_call.hpp"

namespace d5::python {

PythonGradients::PythonGradients(GradientSource& source, RankAgreement& ranks, const Batch& batch,
                                 const ValueMap& first)
    : source_(source), ranks_(ranks), batch_(batch) {
  for (const auto& [name, value] : first) {
    outputs[name] = value.is_tensor() ? Value(value.tensor().copy()) : value;
  }
}

const ValueMap& PythonGradients::run(double factor, GradientRun::Write write) {
  const ValueMap& outputs = source_.run(batch_, {.factor = factor, .write = write});
  if (source_.executor().ended_early()) {
    throw Unsupported("an observer ended one of a step's runs early; remove it");
  }
  source_.finish_all();
  source_.executor().synchronise();
  return outputs;
}

double PythonGradients::loss() { return source_.loss_of(batch_); }
double PythonGradients::mean(double value) { return ranks_.mean(value, batch_); }

void bind_gradient_source(py::module_& m) {
  py::class_<PythonGradients>(
      m, "GradientSource",
      "Gradients of one step's batch, over all ranks; valid during Optimizer.update alone. "
      "Initially they are those of the parameters at the beginning of the step.")
      .def(
          "run",
          [](PythonGradients& gradients, double factor, bool add) {
            const ValueMap* outputs = nullptr;
            const auto write = add ? GradientRun::Write::add : GradientRun::Write::overwrite;
            long_call([&](const Interrupt&) { outputs = &gradients.run(factor, write); });
            return named_outputs(copy_values(*outputs));
          },
          py::kw_only(), py::arg("factor") = 1.0, py::arg("add") = false,
          "Runs forward and backward at the current parameters. Afterwards every parameter's "
          "gradient is final, and is multiplied by `factor`; with add=True it is added to the "
          "former one. Returns the network's outputs.")
      .def(
          "loss",
          [](PythonGradients& gradients) {
            double loss = 0;
            long_call([&](const Interrupt&) { loss = gradients.loss(); });
            return loss;
          },
          "Loss at the current parameters, from a forward run over all ranks' samples.")
      .def(
          "mean",
          [](PythonGradients& gradients, double value) {
            const py::gil_scoped_release released;
            return gradients.mean(value);
          },
          py::arg("value"), "Averages a number over the samples of all ranks.")
      .def_property_readonly(
          "outputs",
          [](const PythonGradients& gradients) { return copy_values(gradients.outputs); },
          "Outputs of the step's own run.")
      .def_property_readonly(
          "network",
          [](PythonGradients& gradients) -> Network& { return gradients.executor().network(); },
          py::return_value_policy::reference_internal, "The network that is trained.")
      .def("__repr__", [](PythonGradients& gradients) {
        return fmt::format("<d5.GradientSource of {}>", describe(gradients.executor().network()));
      });
}

}  // namespace d5::python
