// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "bindings.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"

namespace d5::python {

// One function per file of this folder, with the file's name.
void bind_training_profile(py::module_& m);
void bind_scaling_prediction(py::module_& m);
void bind_local_prediction(py::module_& m);
void bind_cluster_calibration(py::module_& m);
void bind_simulated_run(py::module_& m);
void bind_operation_graph(py::module_& m);
void bind_execution_trace(py::module_& m);
void bind_overlap(py::module_& m);
void bind_overlap_map(py::module_& m);
void bind_overlap_account(py::module_& m);

using SharedRanks = std::shared_ptr<Communicator>;
inline constexpr const char* kRingScheme = "consistent_decentralized:all_reduce=ring";

/// Reads "weak" or "strong". Throws: ValueError for another word.
[[nodiscard]] PredictedScaling predicted_scaling(const std::string& word);
/// Reads a scheme's words; `wire` says whether messages follow a modelled wire. `map` is a file of
/// an overlap map; `force`: also of one that does not fit. Throws: ValueError; as `read_results`.
[[nodiscard]] SimulatedTrainingOptions simulated_training(std::int64_t batch,
                                                          const std::string& scheme,
                                                          const std::string& wire,
                                                          const std::optional<Path>& map = {},
                                                          bool force = false);

/// Warns with a DeprecationWarning: "FORMER is PRESENT now".
void warn_of_former_name(const char* former, const char* present);

}  // namespace d5::python
