// SPDX-License-Identifier: Apache-2.0
#include "memory_desc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <typeinfo>
#include <vector>

#include "pass.hpp"

namespace d5::onednn {

using Type = dnnl::memory::data_type;

Type data_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return Type::f32;
    case DType::bfloat16:
      return Type::bf16;
    case DType::float16:
      return Type::f16;
    case DType::int32:
      return Type::s32;
    case DType::int8:
      return Type::s8;
    case DType::uint8:
    case DType::boolean:
      return Type::u8;
    default:
      return Type::undef;
  }
}

Dims dims_of(const Shape& shape) {
  if (shape.rank() == 0) return {1};
  return {shape.begin(), shape.end()};
}

Desc rows(const Dims& dims, Type type) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return Desc(dims, type, strides);
}

Desc rows(const TensorDesc& desc) { return rows(dims_of(desc.shape), data_type(desc.dtype)); }

Desc any(const Desc& desc) {
  return Desc(desc.get_dims(), desc.get_data_type(), dnnl::memory::format_tag::any);
}

Desc padded_rows(const TensorDesc& desc, std::size_t rank) {
  Dims dims(std::max<std::size_t>(rank, 1) - desc.shape.rank(), 1);
  dims.insert(dims.end(), desc.shape.begin(), desc.shape.end());
  return rows(dims, data_type(desc.dtype));
}

Desc transposed(const Desc& desc) {
  std::vector<int> order(std::size_t(desc.get_ndims()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return desc.permute_axes(order);
}

std::string layout_name(const Desc& desc) {
  const Dims strides = desc.get_strides(), padded = desc.get_padded_dims();
  const Dims blocks = desc.get_inner_blks(), of = desc.get_inner_idxs();
  std::vector<std::size_t> order(strides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return strides[a] != strides[b] ? strides[a] > strides[b] : padded[a] > padded[b];
  });
  std::string name;
  for (const std::size_t dim : order) {
    const bool is_blocked = std::find(of.begin(), of.end(), dnnl_dim_t(dim)) != of.end();
    name += char((is_blocked ? 'A' : 'a') + int(dim));
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    name += fmt::format("{}{}", blocks[i], char('a' + int(of[i])));
  }
  return name;
}

std::string shape_name(const Desc& desc) {
  return fmt::format("{}", fmt::join(desc.get_dims(), "x"));
}

Blocked::Blocked(Desc desc, Desc rows)
    : Arrangement("onednn"), desc_(std::move(desc)), rows_(std::move(rows)) {}

bool Blocked::equals(const Arrangement& other) const {
  if (typeid(*this) != typeid(other)) return false;
  const auto& blocked = static_cast<const Blocked&>(other);
  return blocked.desc_ == desc_ && blocked.rows_ == rows_;
}

Argument Blocked::prepared(Pass&, const Argument& x) const { return x; }

const Blocked* blocked(const TensorDesc& desc) {
  return dynamic_cast<const Blocked*>(desc.arrangement.get());
}

}  // namespace d5::onednn
