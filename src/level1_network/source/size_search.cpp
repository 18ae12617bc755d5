// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/size_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>

namespace d5 {
namespace {

constexpr std::size_t kMostDims = 6;  // limit on dimensions that are raised separately

/// Powers of two, and usual sizes of images and sounds.
constexpr std::array<std::int64_t, 28> kUsual{
    1,   2,   3,   4,   8,   16,  24,  32,  48,   64,   80,   96,   112,   128,
    160, 192, 224, 256, 320, 384, 448, 512, 1024, 2048, 4096, 8192, 16384, 32768};
static_assert(kUsual.front() == SizeSearch::kLeast && kUsual.back() == SizeSearch::kMost);

/// The usual sizes, sums of those that were asked for, as of a past and what follows it, and sizes
/// of weights: a product over an open dimension needs one of these.
std::vector<std::int64_t> sizes_of_weights(const Network& network, const OpenSizes& asked) {
  constexpr std::size_t kMany = 64;
  std::set<std::int64_t> sizes(kUsual.begin(), kUsual.end());
  for (const auto& [name, size] : asked.by_name) {
    sizes.insert({size, size + 1});
    for (const auto& [other, more] : asked.by_name) sizes.insert(size + more);
  }
  std::erase_if(sizes, [](std::int64_t size) { return size > SizeSearch::kMost; });
  for (const auto& [name, value] : network.graph().initializers) {
    for (const std::int64_t dim : value.shape()) {
      if (dim > 0 && dim <= SizeSearch::kMost && sizes.size() < kUsual.size() + kMany)
        sizes.insert(dim);
    }
  }
  return {sizes.begin(), sizes.end()};
}

/// Subsets of the dimensions to raise, as bits, the smallest first.
std::vector<std::uint32_t> choices_of(std::size_t dims) {
  std::vector<std::uint32_t> masks((std::size_t{1} << dims) - 1);
  for (std::uint32_t i = 0; i < masks.size(); ++i) masks[i] = i + 1;
  std::ranges::stable_sort(masks, {}, [](std::uint32_t mask) { return std::popcount(mask); });
  return masks;
}

}  // namespace

SizeSearch::SizeSearch(const SizeTrial& trial, const Network& network, OpenSizes sizes,
                       std::vector<std::string> free)
    : trial_(trial),
      sizes_(std::move(sizes)),
      free_(std::move(free)),
      of_weights_(sizes_of_weights(network, sizes_)) {}

std::optional<OpenSizes> SizeSearch::smallest() const {
  if (free_.empty() || free_.size() > kMostDims) return {};
  if (auto found = raised_alike(kUsual)) return lowered(std::move(*found));
  if (auto found = raised_alike(of_weights_)) return lowered(std::move(*found));
  return raised_apart();
}

std::optional<OpenSizes> SizeSearch::raised_alike(std::span<const std::int64_t> candidates) const {
  const auto masks = choices_of(free_.size());
  for (const std::int64_t size : candidates) {
    for (const std::uint32_t mask : masks) {
      OpenSizes sizes = sizes_;
      for (std::size_t i = 0; i < free_.size(); ++i) {
        if (mask >> i & 1) sizes.by_name[free_[i]] = size;
      }
      if (trial_.fits(sizes)) return sizes;
    }
  }
  return {};
}

/// Raises two dimensions that need different sizes.
std::optional<OpenSizes> SizeSearch::raised_apart() const {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    for (std::size_t k = i + 1; k < free_.size(); ++k) {
      for (const std::int64_t first : of_weights_) {
        for (const std::int64_t second : of_weights_) {
          OpenSizes sizes = sizes_;
          sizes.by_name[free_[i]] = first;
          sizes.by_name[free_[k]] = second;
          if (trial_.fits(sizes)) return sizes;
        }
      }
    }
  }
  return {};
}

OpenSizes SizeSearch::lowered(OpenSizes sizes) const {
  for (const auto& name : free_) {
    if (!sizes.by_name.contains(name)) continue;
    for (const std::int64_t size : kUsual) {
      OpenSizes smaller = sizes;
      smaller.by_name[name] = size;
      if (size >= sizes.by_name[name] || !trial_.fits(smaller)) continue;
      sizes = smaller;
      break;
    }
  }
  return sizes;
}

}  // namespace d5
