// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/level3_distributed/gradient_compressor.hpp"
#include "level3_distributed/compressors/parts/packed_codes.hpp"

namespace d5 {
namespace {

struct TernGradOptions {
  std::uint64_t seed = 0;
  void declare(OptionList& options) { options.add("seed", seed, "of the rounding"); }
};

constexpr int kTernaryBits = 2;

/// s sign(x) b, s the largest magnitude on any rank, b one with probability |x| / s, else zero:
/// without bias. Units: 4 bytes to agree on s, then ceil(n / 4).
///
/// The paper's clipping, which adds bias, is not done.
class TernGradCompressor final : public GradientCompressor {
 public:
  using Options = TernGradOptions;
  explicit TernGradCompressor(const Options& options) : options_(options) {}
  int rounds() const override { return 2; }

  std::unique_ptr<Request> start(Communicator& ranks, AllReduce&, Tensor value, Tensor rest,
                                 const CompressionPlace& place) override {
    return run_schedule(ranks, gather(ranks, std::move(value), std::move(rest),
                                      compression_stream(options_.seed, place, ranks.rank())));
  }

 private:
  static CommunicationSchedule gather(Communicator& ranks, Tensor value, Tensor rest,
                                      RandomStream random) {
    // Magnitudes as their bits, which order NaN above infinity: it must reach the others.
    std::int32_t largest = 0;
    for (const float x : value.span<float>()) {
      largest = std::max(largest, std::bit_cast<std::int32_t>(x) & 0x7fffffff);
    }
    Tensor scale_bits = Tensor::scalar(largest);
    auto agreed = ranks.start_all_reduce(scale_bits, Reduction::maximum);
    co_await agreed;
    const auto scale = std::bit_cast<float>(scale_bits.item<std::int32_t>());

    const std::int64_t n = value.elements(), bytes = detail::packed_bytes(n, kTernaryBits);
    Tensor codes = Tensor::empty(DType::uint8, {n});
    Tensor mine = Tensor::empty(DType::uint8, {bytes});
    Tensor all = Tensor::empty(DType::uint8, {bytes * ranks.size()});
    draw(value.span<float>(), scale, random, codes.span<std::uint8_t>());
    detail::pack_codes(codes.span<std::uint8_t>(), kTernaryBits, mine.span<std::uint8_t>());
    if (rest.defined()) {
      rest.copy_from(value);
      add(codes.span<std::uint8_t>(), -scale, rest.span<float>());
    }
    auto gathered = ranks.start_all_gather(mine, all);
    co_await gathered;
    std::ranges::fill(value.span<float>(), 0.0f);
    for (int r = 0; r < ranks.size(); ++r) {
      const Tensor message = all.slice(r * bytes, (r + 1) * bytes);
      detail::unpack_codes(message.span<std::uint8_t>(), kTernaryBits, codes.span<std::uint8_t>());
      add(codes.span<std::uint8_t>(), scale, value.span<float>());
    }
  }

  /// 0, 1, 2: minus s, nothing, s.
  static void draw(std::span<const float> value, float scale, RandomStream& random,
                   std::span<std::uint8_t> codes) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const int taken = random.uniform() * scale < std::abs(value[i]);
      codes[i] = static_cast<std::uint8_t>(1 + (std::signbit(value[i]) ? -taken : taken));
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
/// Learning" (NeurIPS 2017), with section 4's scaler shared by all workers.
void register_terngrad(Registry<GradientCompressorEntry>& registry) {
  registry.add("terngrad", GradientCompressorEntry::of<TernGradCompressor>(
                               "minus s, nothing or s at random, 2 bits (Wen et al., 2017)"));
}

}  // namespace compressor
}  // namespace d5
