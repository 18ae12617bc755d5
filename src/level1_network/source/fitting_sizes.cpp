// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/fitting_sizes.hpp"

#include <algorithm>

#include "level1_network/source/open_dims.hpp"
#include "level1_network/source/size_refusal.hpp"
#include "level1_network/source/size_search.hpp"
#include "level1_network/source/total_strides.hpp"

namespace d5 {
namespace {

/// With sizes that nobody asked for raised to what the network's strides make one element of: of
/// smaller pictures a detector sees nothing.
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

}  // namespace

OpenSizes fitting_sizes(const Network& network, const OpenSizes& sizes) {
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

}  // namespace d5
