// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "level3_distributed/compressors/parts/lanes.hpp"

namespace d5 {
namespace {

/// 8-bit min-max quantization: the bucket's minimum, and for each element its distance from it in
/// steps of (maximum - minimum) / 255, rounded to the nearest, so the error is at most half a step.
/// Units: 8 + n bytes.
class Int8Compressor final : public GatheredCompressor {
 public:
  std::int64_t message_bytes(std::int64_t elements) const override { return kHead + elements; }
  /// Half a step, at most (2 |x| / 255) / 2 in the maximum norm.
  std::optional<double> rest_bound(std::int64_t) const override { return 1.0 / (255 * 255); }

  void compress(std::span<const float> value, RandomStream&,
                std::span<std::uint8_t> message) override {
    const auto smaller = [](float a, float x) { return x < a ? x : a; };
    const auto larger = [](float a, float x) { return x > a ? x : a; };
    const auto plus = [](float a, float b) { return a + b; };
    const float first = value.empty() ? 0 : value[0];
    const float least = detail::fold_in_lanes(value, first, smaller, smaller);
    const float most = detail::fold_in_lanes(value, first, larger, larger);
    // NaN if some value is not finite, which comparisons may miss.
    const float probe =
        detail::fold_in_lanes(value, 0.0f, [](float sum, float x) { return sum + x * 0; }, plus);
    // The difference of two floats may overflow, so divide first.
    float step = (most / 255) - (least / 255);
    if (std::isnan(probe)) step = std::numeric_limits<float>::quiet_NaN();
    const float per_step = step > std::numeric_limits<float>::min() ? 1 / step : 0;
    std::memcpy(message.data(), &least, sizeof least);
    std::memcpy(message.data() + sizeof least, &step, sizeof step);
    std::uint8_t* codes = message.data() + kHead;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const float steps = per_step > 0 ? (value[i] - least) * per_step + 0.5f : 0;
      codes[i] = static_cast<std::uint8_t>(std::min(steps, 255.0f));
    }
  }

  void add(std::span<const std::uint8_t> message, float factor,
           std::span<float> values) const override {
    float least = 0, step = 0;
    std::memcpy(&least, message.data(), sizeof least);
    std::memcpy(&step, message.data() + sizeof least, sizeof step);
    const std::uint8_t* codes = message.data() + kHead;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += factor * (least + step * static_cast<float>(codes[i]));
    }
  }

 private:
  static constexpr std::int64_t kHead = 8;
};

}  // namespace

namespace compressor {

/// Source: Gan et al., "BAGUA: Scaling up Distributed Learning with System Relaxations" (VLDB
/// 2022), its 8-bit codes between a minimum and a maximum (ByteGrad).
void register_int8(Registry<GradientCompressorEntry>& registry) {
  registry.add("int8", GradientCompressorEntry::of<Int8Compressor>(
                           "8-bit min-max quantization (ByteGrad, Gan et al., 2022)"));
}

}  // namespace compressor
}  // namespace d5
