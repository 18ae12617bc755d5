// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/dataset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

/// A bijection of 64 bits, in which every output bit depends on all input bits. Source: the
/// finalizer of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014).
std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

}  // namespace

RandomStream Draw::stream(std::string_view name, std::int64_t sample) const {
  const auto index = std::uint64_t(sample);
  const std::uint64_t key = mixed(seed + mixed(std::uint64_t(epoch) + mixed(index >> 32)));
  return RandomStream(key, stream_of(name), std::uint32_t(index));
}

std::string Dataset::sample_name(std::int64_t index) const { return std::to_string(index); }

Shape Dataset::sample_shape(std::size_t field, std::int64_t index) const {
  const Shape& shape = fields().at(field).desc.shape;
  if (shape.is_static()) return shape;
  std::vector<Tensor> sample = empty_batch(*this, 1);
  read(std::span(&index, 1), {}, sample);
  return Shape(sample[field].shape().dims().subspan(1));
}

std::vector<std::int64_t> Dataset::labels(std::string_view field) const {
  const auto place = std::ranges::find(fields(), field, &Field::name);
  if (place == fields().end()) {
    throw NotFound(fmt::format("dataset '{}' has no field '{}'; it has {}", printable(name()),
                               printable(field),
                               fmt::join(fields() | std::views::transform(&Field::name), ", ")));
  }
  if (place->desc.dtype != DType::int64 || place->desc.shape.rank() != 0) {
    throw TypeError(fmt::format("dataset '{}': field '{}' is {}, expected a label: int64 scalar",
                                printable(name()), printable(field), to_string(place->desc)));
  }
  std::vector<Tensor> sample = empty_batch(*this, 1);
  std::vector<std::int64_t> all;
  for (std::int64_t index = 0; index < size(); ++index) {
    read(std::span(&index, 1), {}, sample);
    all.push_back(sample[std::size_t(place - fields().begin())].item<std::int64_t>());
  }
  return all;
}

std::vector<Tensor> empty_batch(const Dataset& dataset, std::int64_t samples) {
  std::vector<Tensor> batch;
  for (const auto& [name, desc] : dataset.fields()) {
    if (!desc.shape.is_static()) {
      batch.emplace_back();
      continue;
    }
    std::vector<std::int64_t> dims{samples};
    dims.insert(dims.end(), desc.shape.begin(), desc.shape.end());
    batch.push_back(Tensor::empty(desc.dtype, Shape(std::move(dims))));
  }
  return batch;
}

}  // namespace d5
