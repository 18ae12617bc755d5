// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "level3_distributed/compressors/parts/packed_signs.hpp"

namespace d5 {
namespace {

/// Majority vote: each rank votes with its element's sign, +0 as +; the result is the majority's
/// sign, 0 for a tie. It is not a sum: its magnitude is always 1, so the step is the learning rate.
/// Units: ceil(n / 8) bytes.
class SignCompressor final : public GatheredCompressor {
 public:
  std::int64_t message_bytes(std::int64_t elements) const override {
    return detail::packed_bytes(elements, 1);
  }
  void compress(std::span<const float> value, RandomStream&,
                std::span<std::uint8_t> message) override {
    detail::pack_signs(value, message);
  }
  void add(std::span<const std::uint8_t> message, float factor,
           std::span<float> values) const override {
    detail::add_signs(message, factor, values);
  }
  bool leaves_rest() const override { return false; }

 protected:
  void finish(std::span<float> sum) const override {
    for (float& votes : sum) votes = static_cast<float>((votes > 0) - (votes < 0));
  }
};

}  // namespace

namespace compressor {

/// Source: Bernstein et al., "signSGD: Compressed Optimisation for Non-Convex Problems" (ICML
/// 2018), algorithm 3, majority vote.
void register_sign(Registry<GradientCompressorEntry>& registry) {
  registry.add("sign", GradientCompressorEntry::of<SignCompressor>(
                           "1-bit majority vote of signs (SignSGD, Bernstein et al., 2018)"));
}

}  // namespace compressor
}  // namespace d5
