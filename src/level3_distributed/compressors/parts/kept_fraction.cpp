// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/compressors/parts/kept_fraction.hpp"

#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

std::int64_t KeptFraction::of(std::int64_t elements) const {
  if (k > elements) {
    throw ValueError(fmt::format(
        "k = {} elements of a bucket that has {}; give a smaller k, a fraction, or larger buckets "
        "(bucket_bytes)",
        k, elements));
  }
  if (k > 0) return k;
  return static_cast<std::int64_t>(std::ceil(fraction * static_cast<double>(elements)));
}

}  // namespace d5::detail
