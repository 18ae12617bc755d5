// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level1_network/source/open_sizes.hpp"

namespace d5 {

/// A network of one node. The case's first input becomes the network's input; the others, such as
/// weights, become parameters and constants. Throws: Unsupported for inputs that are not tensors.
[[nodiscard]] Network case_network(const OperatorCase& problem);

/// Opens the network that a word names: an .onnx file, an ONNX test folder (its model), a built-in
/// network, or, if it has spaces, a `case_network` ("Gemm 64x512 512x32"). A built-in network takes
/// the `wishes` that it has options for ("seed", "with_loss"); the weights of a case are drawn from
/// "seed"; a file takes none. Two calls share no values. `interrupt` ends the loading of a file.
/// Throws: NotFound, FormatError, and what loading throws.
[[nodiscard]] Network open_model(const std::string& model, const Settings& wishes = {},
                                 const Interrupt& interrupt = {});
/// The same, followed by transforms with the same `wishes`. Throws: as `apply_transforms`, too.
[[nodiscard]] Network open_model(const std::string& model, const Settings& wishes,
                                 const TransformChain& transforms, const Interrupt& interrupt = {});
/// Expands `words` into words of `open_model`. A folder becomes its ONNX test folders and .onnx
/// files, sorted by name. A file of cases (.txt), and a line with `for`, become their cases
/// (`read_cases`, `expand_case`). Throws: NotFound for a word that is not a file, a folder or a
/// built-in network; FormatError for an invalid case.
[[nodiscard]] std::vector<std::string> models_of(const std::vector<std::string>& words);
/// Whether `word` names an existing network: a built-in one, a file or a folder. Other words may be
/// operators' cases.
[[nodiscard]] bool is_network(const std::string& word);
/// Whether `model` is a folder, and therefore an ONNX test folder.
[[nodiscard]] bool is_test_folder(const std::string& model);
/// Name of a model in records, the same on all machines. Built-in network: its name. File: its name
/// without folder and ".onnx"; a file model.onnx: its folder's name. Test folder: its name. Case:
/// its line.
[[nodiscard]] std::string model_name(const std::string& model);
/// The artefact that `open_model` opens: the file with its checksum, or the built-in network or
/// case of this version.
[[nodiscard]] Artefact model_artefact(const std::string& model);

/// Settings of a run in the framework `word` that models and transforms may use: "batch",
/// "framework", "memory" if there is a limit, "seed".
[[nodiscard]] Settings run_wishes(const std::string& word, const OpenSizes& sizes,
                                  const ExecutorOptions& execution);

/// Types and shapes of the inputs for these sizes; of kind none for an input that is not a tensor
/// or has no known rank. A dimension without a name (or "?") is called INPUT:AXIS. Throws: NotFound
/// for a name in `sizes` that is not an open dimension; ValueError for a batch other than 1 if no
/// dimension is open and no input's first dimension has that size.
[[nodiscard]] std::map<std::string, ValueDesc> input_descs(const Network& network,
                                                           const OpenSizes& sizes = {});

/// Random inputs, the same for the same names, shapes and seed: normal reals, and integers from [0,
/// 10), in a range that the network accepts. Open dimensions that `sizes` does not name take the
/// smallest size that fits the network if the batch does not fit. Throws: as `input_descs`;
/// ShapeError for sizes that do not fit; Unsupported for an input that is not a tensor of known
/// rank.
[[nodiscard]] ValueMap random_inputs(const Network& network, const OpenSizes& sizes = {},
                                     std::uint64_t seed = 0);

/// Returns "loss" if the network has that output, otherwise an empty string.
[[nodiscard]] std::string loss_of(const Network& network);

}  // namespace d5
