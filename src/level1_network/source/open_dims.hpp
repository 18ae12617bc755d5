// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/source/open_sizes.hpp"

namespace d5 {

/// An open dimension of a network, in all inputs that have it.
struct OpenDim {
  std::string name;  ///< as in `OpenSizes::by_name`; INPUT:AXIS if it has no name
  std::vector<std::pair<std::string, std::size_t>> places = {};  ///< inputs and axes
  bool is_first = false;  ///< axis 0 of an input, and so perhaps a batch
};
/// The open dimensions, in the order of the inputs.
[[nodiscard]] std::vector<OpenDim> open_dims(const Network& network);

/// Whether a word of `--dim` means this dimension: its name, INPUT:AXIS of one of its places, or a
/// pattern of either (glob(7)): "past_*:2".
[[nodiscard]] bool is_meant(const OpenDim& dim, const std::string& word);
/// The sizes by names of dimensions alone. A name goes before a pattern; a word that no dimension
/// has stays. Throws: ValueError if two words give a dimension two sizes.
[[nodiscard]] OpenSizes sizes_by_names(const Network& network, const OpenSizes& sizes);

/// The sizes with those of dimensions that are named as sums, "past_sequence_length + 1": of the
/// sizes of their names, which are the batch where they have none.
[[nodiscard]] OpenSizes with_sums(const Network& network, const OpenSizes& sizes);

/// As `with_named_batch` of a model.
[[nodiscard]] OpenSizes with_named_batch(const Network& network, const OpenSizes& sizes);

/// Inputs that accept tensors of any rank. Each takes the sizes "x:0", "x:1", and so on of
/// `OpenSizes::by_name`.
[[nodiscard]] std::vector<std::string> inputs_of_any_rank(const Network& network);
/// "x:2"
[[nodiscard]] std::string axis_name(const std::string& input, std::size_t axis);

/// Types and shapes of the inputs for these sizes, as `input_descs`, but without its checks.
[[nodiscard]] std::map<std::string, ValueDesc> sized_descs(const Network& network,
                                                           const OpenSizes& sizes);

}  // namespace d5
