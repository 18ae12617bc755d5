// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_account.hpp"

#include <fmt/format.h>

#include "d5/core/trace/event.hpp"
#include "prediction/prediction.hpp"
#include "row_dicts.hpp"

namespace d5::python {
namespace {

RowDicts buckets_of_step(const StepAccount& step) {
  return rows_of(step.buckets, [](Values& row, const BucketTimes& bucket) {
    row["id"] = bucket.id;
    row["label"] = bucket.label;
    row["asked_ns"] = bucket.asked_ns;
    row["begun_ns"] = bucket.begun_ns;
    row["ended_ns"] = bucket.ended_ns;
    row["exposed_ns"] = bucket.exposed_ns;
  });
}

}  // namespace

void bind_overlap_account(py::module_& m) {
  py::class_<StepAccount>(m, "StepAccount",
                          "Times of one rank in one step, in s; the four parts sum to the step.")
      .def_readonly("compute", &StepAccount::compute, "Computation without communication.")
      .def_readonly("overlap", &StepAccount::overlap, "Computation and communication at once.")
      .def_readonly("communication", &StepAccount::communication, "Waiting for a call.")
      .def_readonly("idle", &StepAccount::idle, "Neither: before the computation began.")
      .def_property_readonly("step", &StepAccount::step, "Time of the whole step.")
      .def("buckets", &buckets_of_step,
           "A dict per call: label, time of the request, begin and end, and how long the computing "
           "thread waited for it (exposed_ns).")
      .def("__repr__", [](const StepAccount& step) {
        return fmt::format("<d5.StepAccount: {:.4g} s, {} calls>", step.step(),
                           step.buckets.size());
      });
  py::class_<OverlapRecorder, Event, std::shared_ptr<OverlapRecorder>>(
      m, "OverlapRecorder", py::multiple_inheritance(),
      "Divides each step of this rank into computation, communication and both at once: an event "
      "for a trainer and for its ranks.\n\n"
      "    recorder = d5.OverlapRecorder()\n"
      "    d5.world().add_event(recorder)\n"
      "    trainer.add_event(recorder)   # or begin_step, begin_compute and end_step by hand\n"
      "    trainer.run()\n"
      "    print(d5.account_table(recorder.steps))")
      .def(py::init<>())
      .def("begin_step", &OverlapRecorder::begin_step,
           "Marks the begin of a step, which is the end of the previous one.")
      .def("begin_compute", &OverlapRecorder::begin_compute,
           "Marks the begin of the step's computation.")
      .def("end_step", &OverlapRecorder::end_step,
           "Marks the end of the step, and adds its d5.StepAccount to `steps`.")
      .def_property_readonly(
          "steps", [](const OverlapRecorder& recorder) { return recorder.steps(); },
          "A d5.StepAccount per step that has ended.")
      .def("clear", &OverlapRecorder::clear, "Removes all accounts.");
  m.def("account_table", &account_table, py::arg("steps"), "Means over steps, as a row.");
}

}  // namespace d5::python
