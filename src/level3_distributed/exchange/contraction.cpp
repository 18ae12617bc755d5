// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/contraction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void expect_contraction(const GradientCompressor& compressor,
                        const std::vector<GradientBucket>& buckets, const std::string& who,
                        const std::string& otherwise) {
  for (const GradientBucket& bucket : buckets) {
    const std::int64_t elements = bucket.data.elements();
    if (elements == 0) continue;
    const double bound = compressor.rest_bound(elements).value_or(0);
    if (bound < 1) continue;
    std::vector<std::string> ways{compressor.smaller_rest(), otherwise};
    std::erase(ways, "");
    if (ways.empty()) ways.emplace_back("another compressor");
    throw ValueError(
        fmt::format("{}: error feedback needs a contraction, but the squared error of this "
                    "compressor may be {:.3g} times the squared norm of {} elements, and the kept "
                    "error grows with each step; give "
                    "{}",
                    who, bound, elements, fmt::join(ways, ", or ")));
  }
}

}  // namespace d5::detail
