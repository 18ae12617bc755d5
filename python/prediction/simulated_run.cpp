// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/simulation/simulated_run.hpp"

#include <fmt/format.h>
#include <pybind11/typing.h>

#include <map>
#include <utility>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "long_call.hpp"
#include "prediction/prediction.hpp"

namespace d5::python {
namespace {

/// A step of a simulated rank: ("compute", s), ("all_reduce", bytes), ("barrier",), ("send", bytes,
/// rank), ("receive", bytes, rank).
using WorkStep = py::typing::Tuple<py::object, py::ellipsis>;
using WorkOfRank = py::typing::Callable<std::vector<WorkStep>(int, int)>;

struct SimulatedStepOfWork {
  std::string what;
  double amount = 0;  // seconds, bytes
  int peer = 0;
};

SimulatedStepOfWork step_of_work(const py::tuple& words) {
  const std::map<std::string, std::size_t> known{
      {"compute", 2}, {"all_reduce", 2}, {"barrier", 1}, {"send", 3}, {"receive", 3}};
  const std::string what = words.empty() ? "" : py::str(words[0]).cast<std::string>();
  const auto place = known.find(what);
  if (place == known.end() || words.size() != place->second) {
    throw ValueError(fmt::format(
        "run_simulated: a step is {}; expected ('compute', seconds), ('all_reduce', bytes), "
        "('barrier',), ('send', bytes, rank) or ('receive', bytes, rank)",
        printable(py::repr(words).cast<std::string>())));
  }
  SimulatedStepOfWork step{.what = what};
  if (words.size() > 1) step.amount = words[1].cast<double>();
  if (words.size() > 2) step.peer = words[2].cast<int>();
  return step;
}

Tensor phantom_of(double bytes) {
  return phantom_tensor({DType::float32, {static_cast<std::int64_t>(bytes) / 4}});
}

void do_step(const SimulatedStepOfWork& step, AllReduce& all_reduce, SimulatedRank& rank,
             Communicator& ranks) {
  if (step.what == "compute") return rank.spend(step.amount);
  if (step.what == "barrier") return ranks.barrier();
  Tensor data = phantom_of(step.amount);
  if (step.what == "all_reduce") return all_reduce.start(ranks, data)->wait();
  if (step.what == "send") return ranks.start_send(data, step.peer)->wait();
  ranks.start_receive(data, step.peer)->wait();
}

Values report_of(const SimulationReport& report) {
  Values row;
  row["seconds"] = report.seconds;
  row["rank_seconds"] = report.rank_seconds;
  row["messages"] = report.messages;
  row["largest_bytes"] = report.largest_bytes;
  row["stopped"] = report.stopped;
  row["wall_seconds"] = report.wall_seconds;
  return row;
}

Values run_work_simulated(int ranks, const ClusterDescription& cluster, const WorkOfRank& work,
                          const std::string& all_reduce, const std::string& model,
                          double most_wall_seconds) {
  std::vector<std::vector<SimulatedStepOfWork>> steps;
  for (int rank = 0; rank < ranks; ++rank) {
    auto& own = steps.emplace_back();
    const py::object said = work(rank, ranks);
    const std::string who = fmt::format("d5.run_simulated: work({}, {})", rank, ranks);
    for (const auto& words : answered<std::vector<py::tuple>>(
             said, who, "a list as [(\"compute\", 0.1), (\"all_reduce\", 4096)]")) {
      own.push_back(step_of_work(words));
    }
  }
  SimulationOptions options;
  options.model = {model};
  options.most_wall_seconds = most_wall_seconds;
  (void)find_simulated_network(model);
  SimulationReport report;
  {
    const py::gil_scoped_release released;
    const auto each = [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& all) {
      const auto algorithm = all_reduces().at(all_reduce).make();
      for (const auto& step : steps[static_cast<std::size_t>(rank.rank())]) {
        do_step(step, *algorithm, rank, *all);
      }
    };
    report = run_simulated(ranks, cluster, each, options);
  }
  return report_of(report);
}

}  // namespace

void bind_simulated_run(py::module_& m) {
  m.def("run_simulated", &run_work_simulated, py::arg("ranks"), py::arg("cluster"), py::arg("work"),
        py::kw_only(), py::arg("all_reduce") = "ring", py::arg("model") = "ports",
        py::arg("most_wall_seconds") = 0.0,
        "Runs simulated ranks in virtual time: work(rank, ranks) returns the steps of each: "
        "(\"compute\", seconds), (\"all_reduce\", bytes), (\"barrier\",), (\"send\", bytes, rank), "
        "(\"receive\", bytes, rank). Returns a dict: seconds until the last rank is done, the same "
        "for each rank (rank_seconds), messages, largest_bytes, stopped (why it ended early), "
        "wall_seconds. Algorithms run their real code, on data that takes no memory. A deadlock "
        "raises a CommunicationError with each rank's call.");
}

}  // namespace d5::python
