// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/fitting_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level1_network/source/open_dims.hpp"
#include "level1_network/source/size_refusal.hpp"
#include "level1_network/source/size_search.hpp"
#include "level1_network/source/total_strides.hpp"

namespace d5 {
namespace {

/// Raises unrequested sizes to the network's total strides, because a detector sees nothing in
/// smaller pictures.
OpenSizes raised_to_strides(const Network& network, const OpenSizes& sizes,
                            const std::vector<OpenDim>& dims) {
  OpenSizes raised = sizes;
  for (const OpenDim& dim : dims) {
    if (dim.is_first || sizes.by_name.contains(dim.name)) continue;
    std::int64_t least = 1;
    for (const auto& [input, axis] : dim.places) {
      const auto strides = total_strides(network.graph(), input);
      if (axis >= 2 && axis - 2 < strides.size()) least = std::max(least, strides[axis - 2]);
    }
    if (least > sizes.batch) raised.by_name[dim.name] = least;
  }
  return raised;
}

/// Subset of `inputs` whose rank is not given by sizes of axes.
std::vector<std::string> without_rank(std::vector<std::string> inputs, const OpenSizes& sizes) {
  std::erase_if(inputs,
                [&](const auto& input) { return sizes.by_name.contains(axis_name(input, 0)); });
  return inputs;
}

/// Number of channels in the weights of an input's convolution; 0 without a convolution.
std::int64_t channels_of(const Network& network, const std::string& input) {
  for (const auto& node : network.graph().nodes) {
    if (node.op_type != "Conv" || !node.has_input(1) || node.inputs[0] != input) continue;
    const auto weights = network.graph().initializers.find(node.inputs[1]);
    if (weights == network.graph().initializers.end()) continue;
    const auto* group = node.attribute<std::int64_t>("group");
    return weights->second.shape().rank() > 1 ? weights->second.shape()[1] * (group ? *group : 1)
                                              : 0;
  }
  return 0;
}

/// `sizes` with a rank for all `inputs`, the batch first, and sizes that the network accepts. Empty
/// if there are none; `sizes` then stay the same and the inputs unknown.
std::optional<OpenSizes> with_rank(const Network& network, const OpenSizes& sizes,
                                   const std::vector<std::string>& inputs) {
  // Ranks of rows, pictures, sounds and sequences, lists, clips.
  constexpr std::array<std::size_t, 5> kRanks{2, 4, 3, 1, 5};
  std::vector<std::pair<OpenSizes, std::vector<std::string>>> trials;
  for (const std::size_t rank : kRanks) {
    auto& [tried, inner] = trials.emplace_back(sizes, std::vector<std::string>());
    for (const auto& input : inputs) {
      const std::int64_t channels = rank > 2 ? channels_of(network, input) : 0;
      for (std::size_t axis = 0; axis < rank; ++axis) {
        const std::string name = axis_name(input, axis);
        const bool is_known = axis == 1 && channels > 0;
        tried.by_name[name] = axis == 0 ? sizes.batch : is_known ? channels : 1;
        if ((axis > 0 || rank == 1) && !is_known) inner.push_back(name);
      }
    }
    if (SizeTrial(network, tried).refusal().empty()) return tried;
  }
  for (const auto& [tried, inner] : trials) {
    const SizeTrial trial(network, tried);
    if (auto found = SizeSearch(trial, network, tried, inner).smallest()) return found;
  }
  return {};
}

/// Sizes of outputs' dimensions that have the name of an input's.
std::map<std::string, std::set<std::int64_t>> sizes_in_outputs(const Network& network,
                                                               const OpenSizes& sizes) {
  ValueDescs known;
  for (const auto& [name, desc] : sized_descs(network, sizes)) {
    if (desc.is_tensor()) known[name] = desc;
  }
  const ValueDescs descs = infer_graph(network.graph(), known).descs;
  std::map<std::string, std::set<std::int64_t>> found;
  for (const auto& [name, type] : network.graph().outputs) {
    const auto desc = descs.find(name);
    if (desc == descs.end() || !desc->second.is_tensor()) continue;
    const Shape& shape = desc->second.tensor.shape;
    if (shape.rank() != type.dims.size()) continue;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      const auto* dim = std::get_if<std::string>(&type.dims[axis]);
      if (dim && shape[axis] > 0) found[*dim].insert(shape[axis]);
    }
  }
  return found;
}

/// Sizes with those that outputs tell: a mask is as long as the keys that a past and new tokens
/// make up, where the file gives both one name. `sizes` if that contradicts itself.
OpenSizes told_by_outputs(const Network& network, const OpenSizes& asked, const OpenSizes& sizes) {
  const auto found = sizes_in_outputs(network, sizes);
  OpenSizes told = sizes;
  for (const OpenDim& dim : open_dims(network)) {
    const auto place = found.find(dim.name);
    if (dim.is_first || asked.by_name.contains(dim.name) || place == found.end()) continue;
    const std::int64_t size = *place->second.begin();
    const auto own = sizes.by_name.find(dim.name);
    if (place->second.size() > 1 ||
        size == (own == sizes.by_name.end() ? sizes.batch : own->second))
      continue;
    told.by_name[dim.name] = size;
  }
  if (told.by_name == sizes.by_name) return sizes;
  const auto again = sizes_in_outputs(network, told);
  const bool agrees = std::ranges::all_of(told.by_name, [&](const auto& one) {
    const auto place = again.find(one.first);
    return sizes.by_name.contains(one.first) ||
           (place != again.end() && place->second == std::set{one.second});
  });
  return agrees && SizeTrial(network, told).refusal().empty() ? told : sizes;
}

OpenSizes sizes_that_fit(const Network& network, const OpenSizes& sizes) {
  const auto unknown = without_rank(inputs_of_any_rank(network), sizes);
  if (!unknown.empty()) return with_rank(network, sizes, unknown).value_or(sizes);
  const std::vector<OpenDim> dims = open_dims(network);
  if (dims.empty()) return sizes;
  const OpenSizes raised = raised_to_strides(network, sizes, dims);
  if (raised.by_name != sizes.by_name && SizeTrial(network, raised).refusal().empty())
    return raised;
  const SizeTrial trial(network, sizes);
  if (trial.refusal().empty()) return sizes;
  std::vector<std::string> inner, free;
  for (const OpenDim& dim : dims) {
    if (sizes.by_name.contains(dim.name)) continue;
    if (!dim.is_first) inner.push_back(dim.name);
    if (!dim.is_first || sizes.batch == 1) free.push_back(dim.name);
  }
  for (const auto& names : {inner, free}) {  // first with the batch as it is
    if (auto found = SizeSearch(trial, network, sizes, names).smallest()) return *found;
  }
  refuse_unfit_sizes(network, trial, sizes, dims);
}

}  // namespace

void expect_positive(const OpenSizes& sizes) {
  if (sizes.batch < 1) {
    throw ValueError(
        fmt::format("batch is {}, expected a number of samples, at least 1", sizes.batch));
  }
  for (const auto& [name, size] : sizes.by_name) {
    if (size >= 1) continue;
    throw ValueError(fmt::format("the size of dimension '{}' is {}, expected at least 1",
                                 printable(name), size));
  }
}

OpenSizes fitting_sizes(const Network& network, const OpenSizes& given) {
  expect_positive(given);
  const OpenSizes asked = with_sums(network, sizes_by_names(network, given));
  return told_by_outputs(network, asked, sizes_that_fit(network, asked));
}

}  // namespace d5
