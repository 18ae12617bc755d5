// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "level3_distributed/compressors/parts/lanes.hpp"
#include "level3_distributed/compressors/parts/packed_codes.hpp"

namespace d5 {
namespace {

struct QsgdOptions {
  std::int64_t levels = 7, block = 32;
  std::uint64_t seed = 0;

  void declare(OptionList& options) {
    options.add("levels", levels, "number of levels s: magnitudes are rounded to i / s of the norm",
                {.least = 1, .most = 127});
    options.add("block", block, "number of elements that share a norm", {.least = 1});
    options.add("seed", seed, "seed of the stochastic rounding");
  }
};

/// Stochastic quantization: sends the norm of each block of d elements, and sign(x) i for each
/// element, where i / s is |x| / norm rounded up or down at random. Unbiased: E[Q(x)] = x, E|Q(x) -
/// x|^2 <= min(d / s^2, sqrt(d) / s) |x|^2. The bound is below |x|^2, as error feedback needs, if d
/// < s^2. The paper's blocks of 512 with 4 bits are for training without feedback.
/// Units: 4 ceil(n / d) + ceil(n b / 8) bytes, b = ceil(log2(2 s + 1)) bits; the paper's Elias
/// codes are shorter if most elements are zero, but their length depends on the data.
class QsgdCompressor final : public GatheredCompressor {
 public:
  using Options = QsgdOptions;
  explicit QsgdCompressor(const Options& options)
      : options_(options),
        bits_(std::bit_width(static_cast<std::uint64_t>(2 * options.levels))),
        levels_(static_cast<float>(options.levels)) {}

  std::uint64_t seed() const override { return options_.seed; }

  /// Lemma 3.1.
  std::optional<double> rest_bound(std::int64_t elements) const override {
    const auto d = static_cast<double>(std::min(options_.block, elements));
    const auto s = static_cast<double>(options_.levels);
    return std::min(d / (s * s), std::sqrt(d) / s);
  }
  std::string smaller_rest() const override {
    return fmt::format("block below {} (the square of levels), or more levels",
                       options_.levels * options_.levels);
  }

  std::int64_t message_bytes(std::int64_t elements) const override {
    return norm_bytes(elements) + detail::packed_bytes(elements, bits_);
  }

  void compress(std::span<const float> value, RandomStream& random,
                std::span<std::uint8_t> message) override {
    codes_.resize(value.size());
    std::uint8_t* norms = message.data();
    for (std::size_t begin = 0; begin < value.size(); begin += block()) {
      const auto part = value.subspan(begin, std::min(block(), value.size() - begin));
      // Squares of float32 neither over- nor underflow in float64.
      const double squares = detail::sum_in_lanes(part, [](float x) { return double{x} * x; });
      const auto norm = static_cast<float>(std::sqrt(squares));
      std::memcpy(norms, &norm, sizeof norm);
      norms += sizeof norm;
      // A norm that is not finite makes the whole block NaN, whatever the codes.
      const float quotient = levels_ / norm;
      const bool sends = std::isfinite(norm) && std::isfinite(quotient);
      draws_.resize(part.size());
      random.uniform(draws_);
      round(part, sends ? quotient : 0, std::span(codes_).subspan(begin, part.size()));
    }
    const auto codes_begin = static_cast<std::size_t>(norms - message.data());
    detail::pack_codes(codes_, bits_, message.subspan(codes_begin));
  }

  void add(std::span<const std::uint8_t> message, float factor,
           std::span<float> values) const override {
    std::vector<std::uint8_t> codes(values.size());
    const auto codes_begin = norm_bytes(static_cast<std::int64_t>(values.size()));
    detail::unpack_codes(message.subspan(static_cast<std::size_t>(codes_begin)), bits_, codes);
    for (std::size_t begin = 0, b = 0; begin < values.size(); begin += block(), ++b) {
      float norm = 0;
      std::memcpy(&norm, message.data() + b * sizeof norm, sizeof norm);
      const std::size_t end = std::min(values.size(), begin + block());
      const float step = factor * (norm / levels_), middle = levels_;
      for (std::size_t i = begin; i < end; ++i) {
        values[i] += step * (static_cast<float>(codes[i]) - middle);
      }
    }
  }

 private:
  /// Codes are level + s. With a quotient of zero, values need not be finite.
  void round(std::span<const float> values, float quotient, std::span<std::uint8_t> codes) const {
    const auto most = static_cast<std::int32_t>(options_.levels);
    if (quotient == 0) {
      std::ranges::fill(codes, static_cast<std::uint8_t>(most));
      return;
    }
    // A local copy: codes are bytes, which could alias this object, and the loop would not
    // vectorise.
    const std::span<const float> draws = draws_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float scaled = values[i] * quotient;
      const auto rounded = static_cast<std::int32_t>(std::abs(scaled) + draws[i]);
      const std::int32_t level = std::min(rounded, most);
      codes[i] = static_cast<std::uint8_t>(most + (scaled < 0 ? -level : level));
    }
  }
  std::size_t block() const { return static_cast<std::size_t>(options_.block); }
  std::int64_t norm_bytes(std::int64_t elements) const {
    return 4 * ((elements + options_.block - 1) / options_.block);
  }

  Options options_;
  int bits_;
  float levels_;
  std::vector<std::uint8_t> codes_;
  std::vector<float> draws_;  // for one block
};

}  // namespace

namespace compressor {

/// Source: Alistarh et al., "QSGD: Communication-Efficient SGD via Gradient Quantization and
/// Encoding" (NeurIPS 2017), equation 2, lemma 3.1 and theorem 3.2's codes of one width.
void register_qsgd(Registry<GradientCompressorEntry>& registry) {
  registry.add("qsgd",
               GradientCompressorEntry::of<QsgdCompressor>(
                   "stochastic quantization to levels of the norm (QSGD, Alistarh et al., 2017)"));
}

}  // namespace compressor
}  // namespace d5
