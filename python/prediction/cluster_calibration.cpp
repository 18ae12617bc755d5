// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/calibration/cluster_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "level3_distributed/job.hpp"
#include "long_call.hpp"
#include "prediction/prediction.hpp"
#include "row_dicts.hpp"

namespace d5::python {
namespace {

ClusterCalibration calibrated(const std::string& name, int repetitions, std::int64_t least_bytes,
                              std::int64_t most_bytes, const SharedRanks& group) {
  CalibrationOptions options;
  options.repetitions = repetitions;
  options.least_bytes = least_bytes;
  options.most_bytes = most_bytes;
  options.ends.repetitions = std::min(options.ends.repetitions, repetitions);
  const SharedRanks ranks = group ? group : job_of_python();
  ClusterCalibration result;
  long_call([&](const Interrupt&) {  // a launcher ends all ranks by itself
    result = calibrate_cluster(time_cluster(*ranks, options), name);
  });
  return result;
}

/// A held-out time in a form that can be pickled.
using HeldOutState = std::tuple<std::string, int, std::int64_t, double, double>;
using CalibrationState = std::tuple<ClusterDescription, std::vector<HeldOutState>>;

CalibrationState calibration_state(const ClusterCalibration& calibration) {
  std::vector<HeldOutState> times;
  for (const HeldOutTime& time : calibration.held_out) {
    times.emplace_back(time.what, time.ranks, time.measured.bytes, time.measured.seconds,
                       time.predicted);
  }
  return {calibration.cluster, times};
}

ClusterCalibration calibration_of_state(const CalibrationState& state) {
  ClusterCalibration calibration{.cluster = std::get<0>(state)};
  for (const auto& [what, ranks, bytes, seconds, predicted] : std::get<1>(state)) {
    calibration.held_out.push_back({what, ranks, {bytes, seconds}, predicted});
  }
  return calibration;
}

RowDicts rows_of_calibration(const ClusterCalibration& calibration) {
  return rows_of(calibration.held_out, [](Values& row, const HeldOutTime& time) {
    row["what"] = time.what;
    row["ranks"] = time.ranks;
    row["bytes"] = time.measured.bytes;
    row["measured"] = time.measured.seconds;
    row["predicted"] = time.predicted;
    row["error"] = time.error();
  });
}

}  // namespace

void warn_of_former_name(const char* former, const char* present) {
  const std::string line = fmt::format("{} is {} now", former, present);
  if (PyErr_WarnEx(PyExc_DeprecationWarning, line.c_str(), 1) != 0) throw py::error_already_set();
}

void bind_cluster_calibration(py::module_& m) {
  const CalibrationOptions usual;
  py::class_<ClusterCalibration>(m, "ClusterCalibration",
                                 "A cluster description that was fitted to messages between ranks.")
      .def_readonly("cluster", &ClusterCalibration::cluster,
                    "The fitted d5.ClusterDescription, for d5.predict.")
      .def_property_readonly(
          "network",
          [](const ClusterCalibration& calibration) {
            warn_of_former_name("ClusterCalibration.network", "ClusterCalibration.cluster");
            return calibration.cluster;
          },
          "Former name of `cluster`.")
      .def("held_out", &rows_of_calibration,
           "A dict per held-out measurement: what, ranks, bytes, measured and predicted seconds, "
           "error.")
      .def_property_readonly(
          "spread",
          [](const ClusterCalibration& calibration) { return calibration.cluster.spread.value; },
          "Relative error of messages; above 0.5 something else ran at the same time.")
      .def(
          "table",
          [](const ClusterCalibration& calibration) { return calibration_table(calibration); },
          "A row per held-out measurement, measured beside predicted.")
      .def(py::pickle(&calibration_state, &calibration_of_state))
      .def("__repr__", [](const ClusterCalibration& calibration) {
        return fmt::format("<d5.ClusterCalibration {}>", printable(calibration.cluster.name));
      });
  m.def("_calibrate", &calibrated, py::arg("name"), py::kw_only(),
        py::arg("repetitions") = usual.repetitions, py::arg("least_bytes") = usual.least_bytes,
        py::arg("most_bytes") = usual.most_bytes, py::arg("group") = py::none(),
        "Implements d5.calibrate.");
}

}  // namespace d5::python
