// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/fitting_sizes.hpp"

#include "level1_network/source/open_dims.hpp"
#include "level1_network/source/size_refusal.hpp"
#include "level1_network/source/size_search.hpp"

namespace d5 {

OpenSizes fitting_sizes(const Network& network, const OpenSizes& sizes) {
  const std::vector<OpenDim> dims = open_dims(network);
  if (dims.empty()) return sizes;
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
