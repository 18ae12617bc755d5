// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario/answer_audit.hpp"

#include "evaluation/evaluation_module.hpp"
#include "evaluation/python_system.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

Measurements audit_of_python(const Answer& answer, std::int64_t samples, const std::string& name,
                             std::int64_t audited, double most_different, double least_ratio,
                             std::uint64_t seed) {
  PythonSystem system(answer, name, samples, PythonSystem::Answers::kept);
  ScenarioResult found;
  long_call([&](const Interrupt& interrupt) {
    found.measurements = audit_answers(system, {.run = {.seed = seed, .interrupt = interrupt},
                                                .samples = audited,
                                                .most_different = most_different,
                                                .least_ratio = least_ratio});
  });
  return Measurements(records_of(std::move(found), name));
}

}  // namespace

void bind_answer_audit(py::module_& m) {
  m.def("audit_answers", &audit_of_python, py::arg("answer"), py::arg("samples"), py::kw_only(),
        py::arg("name") = "python", py::arg("audited") = AuditOptions{}.samples,
        py::arg("most_different") = AuditOptions{}.most_different,
        py::arg("least_ratio") = AuditOptions{}.least_ratio, py::arg("seed") = 0,
        "Checks that answer(sample), which returns bytes, text or an array, computes its answers. "
        "The row answers_differ fails if more than `most_different` of the answers differ when "
        "they are timed. The row repeat_ratio fails if a repeated sample takes less than "
        "`least_ratio` of a new one's time, which indicates cached results. `audited` samples are "
        "repeated. After MLPerf's TEST01 and TEST04.");
}

}  // namespace d5::python
