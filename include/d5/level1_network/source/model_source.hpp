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

/// A network of one node: the case's first input is the network's, the others, such as weights, are
/// its parameters and constants. Throws: Unsupported for inputs that are no tensors.
[[nodiscard]] Network case_network(const OperatorCase& problem);

/// The network that a word names: an .onnx file, an ONNX test folder (its model), a built-in
/// network, which takes the `wishes` that it has options for ("seed", "with_loss"), or, where it
/// has spaces, a `case_network` ("Gemm 64x512 512x32"), whose weights are drawn from "seed"; a file
/// is what it is. Two calls share no values. `interrupt` ends the loading of a file.
/// Throws: NotFound, FormatError, and what loading throws.
[[nodiscard]] Network open_model(const std::string& model, const Settings& wishes = {},
                                 const Interrupt& interrupt = {});
/// The same, transformed, with the same `wishes`. Throws: as `apply_transforms`, too.
[[nodiscard]] Network open_model(const std::string& model, const Settings& wishes,
                                 const TransformChain& transforms, const Interrupt& interrupt = {});
/// The models that `words` name, each a word of `open_model`: a folder of ONNX test folders and
/// .onnx files stands for them, in the order of their names; a file of cases (.txt), and a line
/// with `for`, for its cases (`read_cases`, `expand_case`).
/// Throws: NotFound for what is neither a file, a folder nor a built-in network; FormatError for a
/// case that is none.
[[nodiscard]] std::vector<std::string> models_of(const std::vector<std::string>& words);
/// Whether `word` names a network that is there: a built-in one, a file, a folder. What is none may
/// be an operator's case.
[[nodiscard]] bool is_network(const std::string& word);
/// Whether `model` is a folder, and so an ONNX test folder.
[[nodiscard]] bool is_test_folder(const std::string& model);
/// What a record calls it, the same on all machines: a built-in network's name, a file's without
/// folder and ".onnx", the folder's for a test folder and for a file called model.onnx, a case's
/// line.
[[nodiscard]] std::string model_name(const std::string& model);
/// What `open_model` opens: the file with its checksum, or the built-in network, or the case, of
/// this version.
[[nodiscard]] Artefact model_artefact(const std::string& model);

/// What a run in the framework `word` knows that models and transforms may take: "batch",
/// "framework", "memory" where there is a limit, "seed".
[[nodiscard]] Settings run_wishes(const std::string& word, const OpenSizes& sizes,
                                  const ExecutorOptions& execution);

/// What the inputs are for these sizes; of kind none where an input is no tensor, or of unknown
/// rank. A dimension without a name (or "?") is called INPUT:AXIS. Throws: NotFound for a name in
/// `sizes` that is no open dimension; ValueError for a batch other than 1 where no dimension is
/// open, and no input's first is of that size.
[[nodiscard]] std::map<std::string, ValueDesc> input_descs(const Network& network,
                                                           const OpenSizes& sizes = {});

/// Random inputs, the same for the same names, shapes and seed: normal reals, integers from
/// [0, 10), in a range that the network can take. Open dimensions that `sizes` does not name are of
/// the least size that goes through the network, where the batch does not. Throws: as
/// `input_descs`; ShapeError for sizes that do not go through; Unsupported for an input that is no
/// tensor of known rank.
[[nodiscard]] ValueMap random_inputs(const Network& network, const OpenSizes& sizes = {},
                                     std::uint64_t seed = 0);

/// "loss" if the network has that output, otherwise empty.
[[nodiscard]] std::string loss_of(const Network& network);

}  // namespace d5
