// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/size_trial.hpp"

#include "level1_network/source/made_values.hpp"
#include "level1_network/source/open_dims.hpp"

namespace d5 {

SizeTrial::SizeTrial(const Network& network, const OpenSizes& sizes) : network_(network) {
  const Inference found = infer_graph(network.graph(), fed_with(sizes).descs);
  refusal_ = found.refusal;
  for (const auto& [name, range] : value_ranges(network.graph(), found)) {
    if (range.least == range.most) settled_[name] = range;
  }
  if (!settled_.empty()) refusal_ = refusal_with(sizes);
  renew();
}

void SizeTrial::renew() const {
  constexpr std::size_t kMostNodes = 400'000, kFewTrials = 64;
  left_ = kMostNodes / (network_.graph().nodes.size() + 1) + kFewTrials;
}

bool SizeTrial::fits(const OpenSizes& sizes) const {
  constexpr double kMostBytes = double(std::size_t{256} << 20);  // limit on an input
  if (left_ == 0) return false;
  --left_;
  for (const auto& [name, desc] : sized_descs(network_, sizes)) {
    if (!desc.is_tensor()) continue;
    double bytes = double(size_of(desc.tensor.dtype));
    for (const std::int64_t dim : desc.tensor.shape) bytes *= double(dim);
    if (bytes > kMostBytes) return false;
  }
  return refusal_with(sizes).empty();
}

std::string SizeTrial::refusal_with(const OpenSizes& sizes) const {
  Fed fed = fed_with(sizes);
  return refusal_of(network_.graph(), std::move(fed.descs), std::move(fed.values));
}

SizeTrial::Fed SizeTrial::fed_with(const OpenSizes& sizes) const {
  constexpr std::int64_t kFew = 64;
  Fed fed;
  for (const auto& [name, desc] : sized_descs(network_, sizes)) {
    if (!desc.is_tensor()) continue;
    fed.descs[name] = desc;
    const auto range = settled_.find(name);
    if (range == settled_.end() || desc.tensor.shape.elements() > kFew) continue;
    fed.values[name] = made_value(name, desc.tensor, range->second, 0);
  }
  return fed;
}

}  // namespace d5
