// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/answer_step.hpp"

#include <pybind11/trampoline_self_life_support.h>

#include "lent_inputs.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kAnswerStepHelp =
    R"(One postprocessing step from a network's outputs for one sample to an answer; base class of answer
steps in Python.

    class Certain(d5.AnswerStep):
        def run(self, values):
            return {"certain": np.bool_(values["scores"].numpy().max() > 0.5)}

`values` are tensors by name, without the batch dimension, valid during the call alone. The values that
`run` returns are added to them, or replace some.)";

class PythonAnswerStep final : public AnswerStep, public py::trampoline_self_life_support {
 public:
  void run(ValueMap& values) const override {
    call_python([&] {
      const py::function method =
          method_of<AnswerStep>(this, "run", "run(values), which returns a dict of arrays by name");
      const LeaseScope step("an answer step's call");
      const Values given =
          returned_arrays<AnswerStep>(this, "run", method(lent_inputs(values, step.lease())));
      for (auto& [name, value] : to_values(given)) {
        values[name] = value;
      }
    });
  }
};

Values run_answer_step(const AnswerStep& step, const Values& values) {
  ValueMap given = to_values(values);
  step.run(given);
  return copy_values(given);
}

}  // namespace

void register_answer_step(py::module_& m) {
  py::classh<AnswerStep, PythonAnswerStep> step(m, "AnswerStep", kAnswerStepHelp);
  step.def(py::init<>())
      .def("run", &run_answer_step, py::arg("values"), "All values, including the step's own.");
  let_derive(step);
  add_part_kind<AnswerStep>(answer_steps(), "AnswerStep");
  bind_by_name<AnswerStep>(m, answer_steps(), "answer_step", "answer_steps");
}

}  // namespace d5::python
