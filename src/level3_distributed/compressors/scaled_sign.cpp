// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "level3_distributed/compressors/parts/lanes.hpp"
#include "level3_distributed/compressors/parts/packed_signs.hpp"

namespace d5 {
namespace {

/// The mean magnitude of a parameter's gradient times the sign of each element, +0 as +. Each
/// parameter has its own mean: with one mean for gradients of different magnitude, the fed-back
/// error grows in the small ones and training diverges.
/// Units: 4 + ceil(n / 8) bytes per parameter.
class ScaledSignCompressor final : public GatheredCompressor {
 public:
  bool by_part() const override { return true; }

  /// 1 - |x|_1^2 / (n |x|_2^2), largest for a single non-zero element.
  std::optional<double> rest_bound(std::int64_t elements) const override {
    return 1 - 1 / static_cast<double>(elements);
  }

  std::int64_t message_bytes(std::int64_t elements) const override {
    return 4 + detail::packed_bytes(elements, 1);
  }

  void compress(std::span<const float> value, RandomStream&,
                std::span<std::uint8_t> message) override {
    const double sum =
        detail::sum_in_lanes(value, [](float x) { return static_cast<double>(std::abs(x)); });
    const auto mean =
        static_cast<float>(value.empty() ? 0.0 : sum / static_cast<double>(value.size()));
    std::memcpy(message.data(), &mean, sizeof mean);
    detail::pack_signs(value, message.subspan(sizeof mean));
  }

  void add(std::span<const std::uint8_t> message, float factor,
           std::span<float> values) const override {
    float mean = 0;
    std::memcpy(&mean, message.data(), sizeof mean);
    detail::add_signs(message.subspan(sizeof mean), factor * mean, values);
  }
};

}  // namespace

namespace compressor {

/// Source: Karimireddy et al., "Error Feedback Fixes SignSGD and Other Gradient Compression
/// Schemes" (ICML 2019): |x|_1 / d sign(x).
void register_scaled_sign(Registry<GradientCompressorEntry>& registry) {
  registry.add(
      "scaled_sign",
      GradientCompressorEntry::of<ScaledSignCompressor>(
          "1-bit scaled sign: mean magnitude times sign (EF-SignSGD, Karimireddy et al., 2019)"));
}

}  // namespace compressor
}  // namespace d5
