// SPDX-License-Identifier: Apache-2.0
#include "permuted.hpp"

#include <numeric>
#include <string_view>
#include <utility>

namespace d5::tensorflow {
namespace {

/// All of `rank` dimensions except the first two, by number and by letter.
DimensionOrder spatial_order(std::size_t rank) {
  DimensionOrder order{std::vector<std::int64_t>(rank - 2), {}};
  std::iota(order.dimensions.begin(), order.dimensions.end(), 2);
  order.name = rank <= 5 ? std::string_view("dhw").substr(5 - rank) : "...";
  return order;
}

}  // namespace

DimensionOrder channels_last_order(std::size_t rank) {
  DimensionOrder order = spatial_order(rank);
  order.dimensions.insert(order.dimensions.begin(), 0);
  order.dimensions.push_back(1);
  order.name = "n" + order.name + "c";
  return order;
}

DimensionOrder filter_order(std::size_t rank, const char* channels) {
  DimensionOrder order = spatial_order(rank);
  order.dimensions.insert(order.dimensions.end(), {1, 0});
  order.name += channels;
  return order;
}

Permuted::Permuted(const TensorDesc& rows, DimensionOrder order)
    : Arrangement("tensorflow"), order_(std::move(order)), transposed_{rows.dtype, {}} {
  for (const std::int64_t d : order_.dimensions) {
    transposed_.shape.push_back(rows.shape[std::size_t(d)]);
  }
}

bool Permuted::equals(const Arrangement& other) const {
  return order_.dimensions == static_cast<const Permuted&>(other).order_.dimensions;
}

const Permuted* permuted(const TensorDesc& desc) {
  const bool is_ours = desc.arrangement && desc.arrangement->framework() == "tensorflow";
  return is_ours ? static_cast<const Permuted*>(desc.arrangement.get()) : nullptr;
}

const TensorDesc& in_memory(const TensorDesc& desc) {
  const Permuted* own = permuted(desc);
  return own ? own->transposed() : desc;
}

}  // namespace d5::tensorflow
