// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

struct EvenShare {
  std::int64_t first, size;
  std::int64_t left_out;  ///< in no part
};

/// One of `shares` parts of equal size; the remaining samples at the end, fewer than `shares`, are
/// in no part.
/// Throws: ValueError for a share out of range or an empty one.
inline EvenShare even_share(const Dataset& dataset, int share, int shares) {
  if (share < 0 || share >= shares) {
    throw ValueError(fmt::format("part {} of {} of '{}' was asked for; parts count from 0", share,
                                 shares, printable(dataset.name())));
  }
  const std::int64_t size = dataset.size() / shares;
  if (size == 0) {
    throw ValueError(fmt::format("the {} samples of '{}' cannot be shared by {} ranks",
                                 dataset.size(), printable(dataset.name()), shares));
  }
  return {share * size, size, dataset.size() % shares};
}

}  // namespace d5::detail
