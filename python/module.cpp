// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "d5/core/thread_pool/waiting.hpp"
#include "d5/version.hpp"
#include "errors.hpp"

namespace d5::python {
void end_long_calls();            // long_call.cpp
void register_all(py::module_&);  // parts/
}  // namespace d5::python

std::vector<std::string>& d5::python::left_out() {
  static std::vector<std::string> buildings;
  return buildings;
}

PYBIND11_MODULE(_d5, m) {
  m.doc() = "The C++ part of d5; import d5 instead.";
  m.attr("__version__") = D5_VERSION;
  d5::bound_waiting();  // torch may be imported next
  d5::python::bind_errors();
  m.def("_end_long_calls", &d5::python::end_long_calls,
        "Call before the interpreter ends: threads that are left behind within d5 end their work.");
  m.def("_serve_program", &d5::python::serve_program, "For the loader of Python files.");
  d5::python::bind_core(m);
  d5::python::bind_tensor(m);
  d5::python::bind_table(m);
  d5::python::bind_measurement(m);
  d5::python::bind_plot(m);
  d5::python::bind_environment(m);
  d5::python::bind_artefact_store(m);
  d5::python::bind_timeline(m);
  d5::python::bind_onnx(m);
  d5::python::bind_operator_contexts(m);
  d5::python::bind_custom_operators(m);
  d5::python::bind_planned_node(m);
  d5::python::bind_framework_model(m);
  d5::python::bind_framework(m);
  d5::python::bind_operator_support(m);
  d5::python::bind_operator_validation(m);
  d5::python::bind_judge(m);
  d5::python::bind_network_summary(m);
  d5::python::bind_network(m);
  d5::python::bind_model_source(m);
  d5::python::bind_network_tables(m);
  d5::python::bind_executor(m);
  d5::python::bind_planned_memory(m);
  d5::python::bind_framework_selection(m);
  d5::python::bind_network_validation(m);
  d5::python::bind_dataset(m);
  d5::python::bind_published_data(m);
  d5::python::bind_container(m);
  d5::python::bind_sampler(m);
  d5::python::bind_dataset_summary(m);
  d5::python::bind_training_metric(m);
  d5::python::bind_gradient_source(m);
  d5::python::bind_schedule(m);
  d5::python::bind_optimizer(m);
  d5::python::bind_loss(m);
  d5::python::bind_step_graph(m);
  d5::python::bind_trainer(m);
  d5::python::bind_checkpoint(m);
  d5::python::bind_recipe(m);
  d5::python::bind_training_session(m);
  d5::python::bind_training_repetition(m);
  d5::python::bind_training_validation(m);
  d5::python::bind_level3_distributed(m);
  d5::python::bind_distributed_optimizer(m);
  d5::python::bind_explained(m);
  m.def("_left_out", &d5::python::left_out, "Optional parts that this d5 was built without.");
  d5::python::bind_prediction(m);
  d5::python::bind_evaluation(m);
  d5::python::bind_serving(m);
  d5::python::bind_comparison(m);
  d5::python::bind_work_list(m);
  d5::python::bind_bench(m);
  d5::python::bind_part_kinds(m);
  d5::python::register_all(m);
}
