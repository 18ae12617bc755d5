// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/job.hpp"

#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

namespace d5::python {
namespace {

/// From now on, a failure that ends this rank ends the job. Python does not allow changes of
/// built-in types, so SystemExit is opened for it.
void watch_for_failures() {
  const auto leaving = py::module_::import("d5._leaving");
  leaving.attr("watch_for_failures")();
  auto* exit = reinterpret_cast<PyTypeObject*>(PyExc_SystemExit);
  exit->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;
  const int failed =
      PyObject_SetAttrString(PyExc_SystemExit, "code", leaving.attr("exit_code").ptr());
  exit->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
  if (failed != 0) throw py::error_already_set();
}

}  // namespace

std::shared_ptr<Communicator> job_of_python() {
  auto all = world();
  if (all->size() > 1) watch_for_failures();
  return all;
}

void share_threads_of_job() {
  static const bool shared = (share_threads(), true);
  (void)shared;
}

void expect_one_rank(const char* what) {
  const int ranks = job_of_python()->size();
  if (ranks == 1) return;
  throw Unsupported(
      fmt::format("{}: {} ranks were launched, and each would do all of it alone; d5.train trains "
                  "on all of them",
                  what, ranks));
}

}  // namespace d5::python
