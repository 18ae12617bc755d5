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

/// The value of an input or output, in NumPy's kind of file (.npy) or ONNX's (.pb); of inputs also
/// NumPy's archives (.npz), which hold several by name.
struct ValueFile {
  std::string name =
      {};  ///< of an input's file, empty: the network's only one; the archive's names
  std::string path = {};
};
/// From words NAME=FILE.npy, NAME=FILE.pb or NAME=FILE.npz; of inputs ("--input" begins messages)
/// FILE alone, too. Throws: ValueError for others, and a name that is given twice.
[[nodiscard]] std::vector<ValueFile> input_files(const std::vector<std::string>& words,
                                                 const std::string& option = "--input");
/// From words NAME=FILE.npy or NAME=FILE.pb; `option` begins messages. Throws: ValueError for
/// others.
[[nodiscard]] std::vector<ValueFile> value_files(const std::vector<std::string>& words,
                                                 const std::string& option);

/// Inputs of somebody's own.
struct GivenInputs {
  ValueMap values = {};
  std::vector<ValueFile> files = {};
  [[nodiscard]] bool empty() const { return values.empty() && files.empty(); }
};
/// " --input x=x.npy", as the program takes them; values have no words.
[[nodiscard]] std::string to_line(const GivenInputs& given);

/// Whether a MODEL brings inputs: an ONNX test folder with a data set does.
[[nodiscard]] bool brings_inputs(const std::string& model);

/// What a network is fed, and which part of it d5 made up.
struct NetworkInputs {
  ValueMap values = {};
  OpenSizes sizes = {};                ///< that hold: asked, bound by what was given, or found
  std::vector<std::string> made = {};  ///< inputs whose values are random
  std::size_t drawing = 0;             ///< the way in which they are drawn; 0: the usual one
  std::string drawn = {};              ///< that in words, "masks of ones"; empty: the usual way
};

/// What every command feeds the network that `model` names: values that are given; where none are
/// and no size is asked for, those of a test folder's first data set; else random ones, for sizes
/// that what is given leaves open, and in a range that the network can take
/// (docs/reference/level1.md, "Inputs").
///
///     const NetworkInputs fed = network_inputs("model.onnx", network, {}, {.files =
///     input_files({"x.npy"})}); executor->inference(fed.values);
///
/// An input that nothing reads and that cannot be made is left out.
/// Throws: NotFound for an input that the network lacks; ValueError for one that is given twice, or
/// a size that an input contradicts; TypeError, ShapeError for a value that does not fit what the
/// network declares, or for sizes that do not go through it; Unsupported for an input that is
/// missing and cannot be made; IoError, FormatError for files.
[[nodiscard]] NetworkInputs network_inputs(const std::string& model, const Network& network,
                                           const OpenSizes& sizes = {},
                                           const GivenInputs& given = {}, std::uint64_t seed = 0);

/// Values of the same shapes as what is made of `inputs`, by another seed and in one of the ways to
/// draw (docs/reference/level1.md, "Inputs"); what was given stays. Throws: as `network_inputs`.
[[nodiscard]] ValueMap drawn_again(const Network& network, const NetworkInputs& inputs,
                                   std::uint64_t seed, std::size_t drawing = 0);

/// The same for who will run it: "auto" then judges who may run the network on three more draws of
/// what is made, by the seeds that follow `seed`.
[[nodiscard]] NetworkInputs network_inputs(const std::string& model, GraphExecutor& executor,
                                           const OpenSizes& sizes = {},
                                           const GivenInputs& given = {}, std::uint64_t seed = 0);

/// The sizes alone, for who runs nothing: no value is made, but given ones are read.
[[nodiscard]] OpenSizes network_sizes(const std::string& model, const Network& network,
                                      const OpenSizes& sizes = {}, const GivenInputs& given = {});

/// "the values of 'ids' are of d5's making; give your own, --input ids=FILE.npy": what to say of a
/// run that failed on what is fed; empty where nothing was made.
[[nodiscard]] std::string advice_on(const NetworkInputs& inputs);
/// Calls `run`, and adds that advice to an error of values or shapes. Throws: what it throws.
void with_advice(const NetworkInputs& inputs, const std::function<void()>& run);

/// Notes in a record of a run the sizes that d5 found, where nobody asked for them ("sizes",
/// "height=32, width=32"), how inputs were drawn where the usual way told nothing ("drawn", "masks
/// of ones, sequence of 8"), and outputs of which the file says what they are not ("declared", "y
/// as float32 1xN, it is float32 1x1x10"), which is no reason to fail.
void note_inputs(Measurement& record, const OpenSizes& asked, const Network& network,
                 const NetworkInputs& inputs);

namespace detail {
/// Of a data set of a test folder, for inputs in the graph's order.
[[nodiscard]] ValueMap data_set_inputs(const Network& network,
                                       const std::vector<std::string>& files);
}  // namespace detail

}  // namespace d5
