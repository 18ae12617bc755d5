// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/source/open_sizes.hpp"

namespace d5 {

class GraphExecutor;

/// A file with the value of an input or output, in NumPy's format (.npy) or ONNX's (.pb). Inputs
/// may also come from NumPy's archives (.npz), which hold several by name.
struct ValueFile {
  /// Name of the input; empty: the network's only input, or the names in an archive.
  std::string name = {};
  std::string path = {};
};
/// Parses words NAME=FILE.npy, NAME=FILE.pb or NAME=FILE.npz; FILE alone names an input's file too.
/// `option` begins messages. Throws: ValueError for other words, and for a name given twice.
[[nodiscard]] std::vector<ValueFile> input_files(const std::vector<std::string>& words,
                                                 const std::string& option = "--input");
/// Parses words NAME=FILE.npy or NAME=FILE.pb; `option` begins messages. Throws: ValueError for
/// other words.
[[nodiscard]] std::vector<ValueFile> value_files(const std::vector<std::string>& words,
                                                 const std::string& option);

/// Inputs that the caller gives.
struct GivenInputs {
  ValueMap values = {};
  std::vector<ValueFile> files = {};
  [[nodiscard]] bool empty() const { return values.empty() && files.empty(); }
};
/// Writes " --input x=x.npy", as the program takes it; `values` are left out.
[[nodiscard]] std::string to_line(const GivenInputs& given);

/// Whether `model` comes with inputs, as an ONNX test folder with a data set does.
[[nodiscard]] bool brings_inputs(const std::string& model);

/// Inputs of a network, and which of them d5 made.
struct NetworkInputs {
  ValueMap values = {};
  OpenSizes sizes = {};                ///< sizes in effect: asked for, given by inputs, or found
  std::vector<std::string> made = {};  ///< inputs with random values
  std::size_t drawing = 0;             ///< index of the way to draw them; 0: the usual one
  std::string drawn = {};              ///< the way in words, "masks of ones"; empty: the usual one
};

/// Inputs that every command feeds to the network that `model` names. Given values come first. If
/// there are none, and no size is asked for, a test folder's first data set is used. Otherwise
/// inputs are random, with the sizes that given values leave open, in a range that the network
/// accepts (docs/reference/level1.md, "Inputs").
///
///     const NetworkInputs fed = network_inputs("model.onnx", network, {}, {.files =
///     input_files({"x.npy"})}); executor->inference(fed.values);
///
/// An input that nothing reads and that cannot be made is left out. Throws: NotFound for an input
/// that the network lacks; ValueError for one that is given twice, or for a size that an input
/// contradicts; TypeError, ShapeError for a value that does not match the network's declaration, or
/// for sizes that do not fit; Unsupported for a missing input that cannot be made; IoError,
/// FormatError for files.
[[nodiscard]] NetworkInputs network_inputs(const std::string& model, const Network& network,
                                           const OpenSizes& sizes = {},
                                           const GivenInputs& given = {}, std::uint64_t seed = 0);

/// Draws the made part of `inputs` again, with the same shapes, by another seed and in one of the
/// ways to draw (docs/reference/level1.md, "Inputs"); given values stay. Throws: as
/// `network_inputs`.
[[nodiscard]] ValueMap drawn_again(const Network& network, const NetworkInputs& inputs,
                                   std::uint64_t seed, std::size_t drawing = 0);

/// Inputs for an executor. "auto" then checks candidates on three more draws of the made inputs, by
/// the seeds that follow `seed`.
[[nodiscard]] NetworkInputs network_inputs(const std::string& model, GraphExecutor& executor,
                                           const OpenSizes& sizes = {},
                                           const GivenInputs& given = {}, std::uint64_t seed = 0);

/// Sizes alone, for callers that run nothing. No value is made, but given ones are read.
[[nodiscard]] OpenSizes network_sizes(const std::string& model, const Network& network,
                                      const OpenSizes& sizes = {}, const GivenInputs& given = {});

/// Advice for a run that failed on made inputs: "the values of input 'ids' were made by d5: give
/// some that the network accepts, --input ids=FILE.npy"; empty if nothing was made.
[[nodiscard]] std::string advice_on(const NetworkInputs& inputs);
/// Calls `run`, and adds that advice to an error of values or shapes. Throws: what `run` throws.
void with_advice(const NetworkInputs& inputs, const std::function<void()>& run);

/// Adds to a run's record: sizes that d5 found, not asked for ("sizes", "height=32, width=32"); how
/// inputs were drawn if not in the usual way ("drawn", "masks of ones, sequence of 8"); outputs
/// that differ from the file's declaration ("declared", "y as float32 1xN, it is float32 1x1x10"),
/// which is not a failure.
void note_inputs(Measurement& record, const OpenSizes& asked, const Network& network,
                 const NetworkInputs& inputs);

namespace detail {
/// Inputs of one data set of a test folder, in the graph's order.
[[nodiscard]] ValueMap data_set_inputs(const Network& network,
                                       const std::vector<std::string>& files);
}  // namespace detail

}  // namespace d5
