// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pybind11/typing.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/timeline.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/communicator/transport.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/schemes/late_arrivals.hpp"
#include "d5/level3_distributed/schemes/traced_run.hpp"
#include "level3_distributed/blocking_calls.hpp"
#include "level3_distributed/communication_graph.hpp"
#include "level3_distributed/job.hpp"
#include "level3_distributed/started_calls.hpp"
#include "long_call.hpp"
#include "row_dicts.hpp"

namespace d5::python {
namespace {

/// `comm`: a communicator of mpi4py, or the address of an MPI_Comm.
std::shared_ptr<Communicator> communicator_of_python(const py::object& comm) {
  std::uintptr_t address = 0;
  if (py::isinstance<py::int_>(comm)) {
    address = comm.cast<std::uintptr_t>();
  } else {
    // The holder of such an object has imported mpi4py, which starts MPI: this function does not.
    const py::dict imported = py::module_::import("sys").attr("modules");
    py::object mpi = py::none();
    if (imported.contains("mpi4py.MPI")) mpi = imported["mpi4py.MPI"];
    if (mpi.is_none() || !py::isinstance(comm, mpi.attr("Comm"))) {
      throw TypeError(fmt::format(
          "Communicator.of: given a {}, expected a communicator of mpi4py, or the address of an "
          "MPI_Comm",
          std::string(py::str(py::type::of(comm).attr("__name__")))));
    }
    address = mpi.attr("_addressof")(comm).cast<std::uintptr_t>();
  }
  const py::gil_scoped_release released;
  return communicator_of(reinterpret_cast<const void*>(address));
}

}  // namespace

void bind_level3_distributed(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  CommunicatorClass communicator(m, "Communicator", "A group of ranks.", ended_without_gil());
  communicator
      .def_static(
          "of", &communicator_of_python, py::arg("comm"),
          "Wraps the ranks of a communicator of mpi4py (or the address of an MPI_Comm), with "
          "separate messages. A collective of its ranks; the other side still owns MPI.")
      .def_property_readonly("rank", &Communicator::rank,
                             "Number of this process in the group, from 0.")
      .def_property_readonly("size", &Communicator::size, "Number of ranks in the group.")
      .def(
          "mpi4py",
          [](const py::object& self) {
            return Anything(py::module_::import("d5._mpi4py").attr("communicator_of")(self));
          },
          "These ranks as a communicator of mpi4py, with separate messages. A collective of its "
          "ranks. Raises: NotFound without mpi4py.")
      .def_property_readonly("name", &Communicator::name, "\"world\", or the name of a group.")
      .def_property_readonly("medium", &Communicator::medium, "Medium of its messages.")
      .def_property_readonly(
          "traffic",
          [](const Communicator& c) {
            Values result;
            for (const auto& [call, line] : c.traffic().by_call) {
              py::dict entry;
              entry["calls"] = line.calls;
              entry["bytes_sent"] = line.bytes_sent;
              entry["bytes_received"] = line.bytes_received;
              result[py::cast(call)] = entry;
            }
            return result;
          },
          "Calls and bytes of this rank, by kind of call.")
      .def("__repr__", [](const Communicator& c) {
        return fmt::format("<d5.Communicator rank {} of {}>", c.rank(), c.size());
      });
  bind_blocking_calls(communicator);
  bind_communication_events(m, communicator);
  bind_started_calls(m, communicator);
  bind_call_options(communicator);
  bind_communicator_decorators(m);
  bind_memory_window(m);
  bind_collective_checks(m);
  bind_communication_graph(m);
  bind_scaling_study(m);
  m.def("world", &job_of_python, "All ranks of the job: those of mpirun, else this process.");
  m.def("launch_words", &launch_words, py::arg("ranks"), py::arg("command"),
        "The command line that starts `command` on that many ranks of this machine: after \"mpirun "
        "-np N\" if there are several.");
  m.def("share_threads", &share_threads_of_job,
        "Divides this machine's cores among its ranks, once; d5.train and d5.launch do it. No "
        "effect without a launcher.");
  m.def(
      "run_traced",
      [](const Path& path, const py::typing::Callable<py::object()>& run,
         const std::shared_ptr<Communicator>& group) {
        Anything result = py::none();
        long_call(
            [&](const Interrupt&) {
              run_traced({.path = path.string()}, group ? group : world(),
                         [&] { result = Anything(call_python([&] { return run(); })); });
            },
            Gil::held);
        return result;
      },
      py::arg("path"), py::arg("run"), py::kw_only(), py::arg("group") = py::none(),
      "Returns the result of `run`, and writes a timeline of all ranks, of the job or of a group, "
      "to the file `path`, which ui.perfetto.dev opens: `--trace`.");
  m.def(
      "late_arrivals",
      [](const Timeline& timeline) {
        return rows_of(late_arrivals(timeline), [](Values& row, const LateArrival& one) {
          row["late"] = one.late;
          row["waiting"] = one.waiting;
          row["calls"] = one.calls;
          row["seconds"] = one.seconds;
        });
      },
      py::arg("timeline"),
      "Waits in collectives from a trace of all ranks: a dict per pair of ranks, the longest "
      "first.");
  m.def("leave_world", &leave_world, py::arg("status"), released,
        "Waits until all ranks arrive here; with a status other than 0 it waits 3 s, then ends the "
        "job. A rank calls it by itself when it ends.");
}

}  // namespace d5::python
