// SPDX-License-Identifier: Apache-2.0
#include "prediction/prediction.hpp"

namespace d5::python {

void bind_prediction(py::module_& m) {
  bind_training_profile(m);
  bind_scaling_prediction(m);
  bind_operation_graph(m);
  bind_execution_trace(m);
  bind_local_prediction(m);
  bind_cluster_calibration(m);
  bind_simulated_run(m);
  bind_overlap(m);
  bind_overlap_map(m);
  bind_overlap_account(m);
}

}  // namespace d5::python
