// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"

namespace d5::detail {

/// Casts values to a smaller float type, in which the all-reduce adds and rounds them. Values above
/// the range become infinity. Units: 2 n bytes.
template <class Small>
class CastCompressor final : public GradientCompressor {
 public:
  std::unique_ptr<Request> start(Communicator& ranks, AllReduce& all_reduce, Tensor value,
                                 Tensor rest, const CompressionPlace&) override {
    return run_schedule(ranks, sum(ranks, all_reduce, std::move(value), std::move(rest)));
  }

  /// Half a unit in the last place, for values within the smaller type's range.
  std::optional<double> rest_bound(std::int64_t) const override {
    constexpr double kHalfUlp = std::is_same_v<Small, Float16> ? 0x1p-11 : 0x1p-8;
    return kHalfUlp * kHalfUlp;
  }

 private:
  static CommunicationSchedule sum(Communicator& ranks, AllReduce& all_reduce, Tensor value,
                                   Tensor rest) {
    Tensor cast = Tensor::empty(dtype_of<Small>, value.shape());
    const auto whole = value.span<float>();
    const auto small = cast.span<Small>();
    for (std::size_t i = 0; i < whole.size(); ++i) small[i] = Small(whole[i]);
    if (rest.defined()) {
      const auto left = rest.span<float>();
      for (std::size_t i = 0; i < whole.size(); ++i) left[i] = whole[i] - float(small[i]);
    }
    auto summed = all_reduce.start(ranks, cast);
    co_await summed;
    for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = float(small[i]);
  }
};

}  // namespace d5::detail
