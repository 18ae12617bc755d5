// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "level3_distributed/compressors/parts/lanes.hpp"
#include "level3_distributed/compressors/parts/packed_codes.hpp"

namespace d5 {
namespace {

struct TernGradOptions {
  double clip = 1.75;
  std::uint64_t seed = 0;
  void declare(OptionList& options) {
    options.add("clip", clip,
                "clipping threshold in root mean squares of a parameter's gradient; 0: no "
                "clipping. Error feedback needs less than 2; the paper uses 2.5 without it",
                {.least = 0});
    options.add("seed", seed, "seed of the stochastic rounding");
  }
};

constexpr int kTernaryBits = 2;

/// Ternary quantization: s sign(x) b for each element, where s is the largest magnitude of the
/// parameter's gradient on any rank, and b is 1 with probability |x| / s, else 0. It is unbiased
/// except for the clipping. The variance of an element is s |x| - x^2, so the relative variance of
/// a tensor is s |x|_1 / |x|_2^2 - 1. It grows with the largest element, as in sparse gradients;
/// clipping limits it.
/// Units: 4 bytes per parameter to agree on s, then ceil(n / 4).
class TernGradCompressor final : public GradientCompressor {
 public:
  using Options = TernGradOptions;
  explicit TernGradCompressor(const Options& options) : options_(options) {}
  int rounds() const override { return 2; }

  /// The mean of s |x| - x^2 over elements is s |x|_1 / n - |x|_2^2 / n <= s r - r^2 <= s^2 / 4,
  /// where r is the root mean square, and s at most `clip` times that of the largest rank. Clipping
  /// itself leaves less than the element.
  std::optional<double> rest_bound(std::int64_t) const override {
    if (options_.clip == 0) return std::numeric_limits<double>::infinity();
    return options_.clip * options_.clip / 4;
  }
  std::string smaller_rest() const override { return "clip below 2"; }

  std::unique_ptr<Request> start(Communicator& ranks, AllReduce&, Tensor value, Tensor rest,
                                 const CompressionPlace& place) override {
    std::vector<Part> parts = parts_of(place, value.span<float>());
    return run_schedule(ranks, gather(ranks, std::move(value), std::move(rest), std::move(parts),
                                      compression_stream(options_.seed, place, ranks.rank())));
  }

 private:
  /// Elements [begin, end) that share a scale.
  struct Part {
    std::size_t begin, end;
    float bound;  // on magnitudes on this rank
  };

  std::vector<Part> parts_of(const CompressionPlace& place, std::span<const float> value) const {
    std::vector<Part> parts;
    for (const GradientPart& part : place.parts) {
      const auto begin = static_cast<std::size_t>(part.offset);
      parts.push_back({begin, begin + static_cast<std::size_t>(part.shape.elements()), 0});
    }
    if (parts.empty()) parts.push_back({0, value.size(), 0});
    for (Part& part : parts) part.bound = bound(of(part, value));
    return parts;
  }

  /// The paper's standard deviation, with the mean taken as zero, so that a single element is never
  /// clipped.
  float bound(std::span<const float> values) const {
    const double squares = detail::sum_in_lanes(values, [](float x) { return double{x} * x; });
    const double mean = values.empty() ? 0 : squares / static_cast<double>(values.size());
    const auto bound = static_cast<float>(options_.clip * std::sqrt(mean));
    // Values that are not finite must reach the other ranks.
    return options_.clip > 0 && std::isfinite(bound) ? bound
                                                     : std::numeric_limits<float>::infinity();
  }

  template <class T>
  static std::span<T> of(const Part& part, std::span<T> bucket) {
    return bucket.subspan(part.begin, part.end - part.begin);
  }

  static CommunicationSchedule gather(Communicator& ranks, Tensor value, Tensor rest,
                                      std::vector<Part> parts, RandomStream random) {
    // Magnitudes as integers of their bits, which order NaN above infinity, so that it reaches the
    // others.
    Tensor agreed_bits = Tensor::empty(DType::int32, {static_cast<std::int64_t>(parts.size())});
    const auto scale_bits = agreed_bits.span<std::int32_t>();
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::int32_t largest = largest_bits(of(parts[p], value.span<float>()));
      const auto bound_bits = std::bit_cast<std::int32_t>(parts[p].bound);
      const bool is_nan =
          largest > std::bit_cast<std::int32_t>(std::numeric_limits<float>::infinity());
      scale_bits[p] = is_nan ? largest : std::min(largest, bound_bits);
    }
    auto agreed = ranks.start_all_reduce(agreed_bits, Reduction::maximum);
    co_await agreed;
    std::vector<float> scales;
    for (const std::int32_t bits : scale_bits) scales.push_back(std::bit_cast<float>(bits));

    const std::int64_t n = value.elements(), bytes = detail::packed_bytes(n, kTernaryBits);
    Tensor codes_tensor = Tensor::empty(DType::uint8, {n});
    const auto codes = codes_tensor.span<std::uint8_t>();
    Tensor mine = Tensor::empty(DType::uint8, {bytes});
    Tensor all = Tensor::empty(DType::uint8, {bytes * ranks.size()});
    std::ranges::fill(codes, std::uint8_t{1});  // padding, too
    for (std::size_t p = 0; p < parts.size(); ++p) {
      draw(of(parts[p], value.span<float>()), parts[p].bound, scales[p], random,
           of(parts[p], codes));
    }
    detail::pack_codes(codes, kTernaryBits, mine.span<std::uint8_t>());
    const auto add_all = [&](float sign, std::span<float> values) {
      for (std::size_t p = 0; p < parts.size(); ++p) {
        add(of(parts[p], codes), sign * scales[p], of(parts[p], values));
      }
    };
    if (rest.defined()) {
      rest.copy_from(value);
      add_all(-1, rest.span<float>());
    }
    auto gathered = ranks.start_all_gather(mine, all);
    co_await gathered;
    std::ranges::fill(value.span<float>(), 0.0f);
    for (int r = 0; r < ranks.size(); ++r) {
      const Tensor message = all.slice(r * bytes, (r + 1) * bytes);
      detail::unpack_codes(message.span<std::uint8_t>(), kTernaryBits, codes);
      add_all(1, value.span<float>());
    }
  }

  static std::int32_t largest_bits(std::span<const float> values) {
    std::int32_t largest = 0;
    for (const float x : values) {
      largest = std::max(largest, std::bit_cast<std::int32_t>(x) & 0x7fffffff);
    }
    return largest;
  }

  /// Codes 0, 1, 2 mean -s, 0, s.
  static void draw(std::span<const float> value, float bound, float scale, RandomStream& random,
                   std::span<std::uint8_t> codes) {
    std::array<float, 512> draws;
    for (std::size_t begin = 0; begin < value.size(); begin += draws.size()) {
      const std::size_t count = std::min(draws.size(), value.size() - begin);
      random.uniform(std::span(draws).first(count));
      for (std::size_t i = 0; i < count; ++i) {
        const float x = value[begin + i];
        const int taken = draws[i] * scale < std::min(std::abs(x), bound);
        codes[begin + i] = static_cast<std::uint8_t>(1 + (std::signbit(x) ? -taken : taken));
      }
    }
  }

  static void add(std::span<const std::uint8_t> codes, float scale, std::span<float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += scale * static_cast<float>(codes[i] - 1);
    }
  }

  Options options_;
};

}  // namespace

namespace compressor {

/// Source: Wen et al., "TernGrad: Ternary Gradients to Reduce Communication in Distributed Deep
/// Learning" (NeurIPS 2017): scalers by layer, clipping and scalers shared by all workers.
void register_terngrad(Registry<GradientCompressorEntry>& registry) {
  registry.add("terngrad",
               GradientCompressorEntry::of<TernGradCompressor>(
                   "ternary quantization to -s, 0 and s, 2 bits (TernGrad, Wen et al., 2017)"));
}

}  // namespace compressor
}  // namespace d5
