// SPDX-License-Identifier: Apache-2.0
#include "evaluation/evaluation_module.hpp"

namespace d5::python {

void bind_evaluation(py::module_& m) {
  bind_evaluate(m);
  bind_described_folder(m);
  bind_described_model(m);
  bind_evaluation_lock(m);
  bind_find_peak(m);
  bind_answer_audit(m);
  bind_choice(m);
  bind_database(m);
  bind_scenario(m);
  bind_analysis(m);
}

}  // namespace d5::python
