// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "level3_distributed/compressors/parts/kept_fraction.hpp"

namespace d5 {
namespace {

struct RandomKOptions : detail::KeptFraction {
  bool unbiased = false;
  std::uint64_t seed = 0;

  void declare(OptionList& options) {
    KeptFraction::declare(options);
    options.add("unbiased", unbiased,
                "scale the sent elements by n / k, for use without error feedback");
    options.add("seed", seed, "seed of the choice, the same on all ranks");
  }
};

/// k distinct numbers below n, ascending. Source: Floyd, in Bentley, "Programming Pearls: A Sample
/// of Brilliance" (CACM 1987).
std::vector<std::int64_t> draw_distinct(RandomStream& random, std::int64_t n, std::int64_t k) {
  std::vector<std::uint64_t> taken(static_cast<std::size_t>(n + 63) / 64);
  const auto take = [&taken](std::int64_t i) {
    std::uint64_t& word = taken[static_cast<std::size_t>(i) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (i % 64), before = word & bit;
    word |= bit;
    return before == 0;
  };
  for (std::int64_t last = n - k; last < n; ++last) {
    const auto drawn =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last) + 1));
    if (!take(drawn)) (void)take(last);
  }
  std::vector<std::int64_t> drawn;
  drawn.reserve(static_cast<std::size_t>(k));
  for (std::size_t w = 0; w < taken.size(); ++w) {
    for (std::uint64_t word = taken[w]; word != 0; word &= word - 1) {
      drawn.push_back(static_cast<std::int64_t>(64 * w) + std::countr_zero(word));
    }
  }
  return drawn;
}

/// Random-k sparsification: all ranks draw the same k elements, so no index is sent and an
/// all-reduce adds them.
/// Units: 4 k bytes.
class RandomKCompressor final : public GradientCompressor {
 public:
  using Options = RandomKOptions;
  explicit RandomKCompressor(const Options& options) : options_(options) {}

  std::unique_ptr<Request> start(Communicator& ranks, AllReduce& all_reduce, Tensor value,
                                 Tensor rest, const CompressionPlace& place) override {
    return run_schedule(ranks, sum(ranks, all_reduce, std::move(value), std::move(rest), place));
  }

  /// The share 1 - k / n is not sent. The unbiased variant has the variance n / k - 1.
  std::optional<double> rest_bound(std::int64_t elements) const override {
    const auto n = static_cast<double>(elements), k = static_cast<double>(options_.of(elements));
    return options_.unbiased ? n / k - 1 : 1 - k / n;
  }
  std::string smaller_rest() const override { return "unbiased: false"; }

 private:
  CommunicationSchedule sum(Communicator& ranks, AllReduce& all_reduce, Tensor value, Tensor rest,
                            CompressionPlace place) const {
    const std::int64_t n = value.elements(), k = options_.of(n);
    RandomStream random = shared_compression_stream(options_.seed, place);
    const std::vector<std::int64_t> indexes = draw_distinct(random, n, k);
    const float factor = options_.unbiased ? static_cast<float>(n) / static_cast<float>(k) : 1;
    Tensor drawn = Tensor::empty(DType::float32, {k});
    float* whole = value.data<float>();
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      drawn.data<float>()[i] = factor * whole[indexes[i]];
    }
    if (rest.defined()) {
      rest.copy_from(value);
      float* left = rest.data<float>();
      for (std::size_t i = 0; i < indexes.size(); ++i) {
        left[indexes[i]] -= drawn.data<float>()[i];
      }
    }
    auto summed = all_reduce.start(ranks, drawn);
    co_await summed;
    std::ranges::fill(value.span<float>(), 0.0f);
    for (std::size_t i = 0; i < indexes.size(); ++i) whole[indexes[i]] = drawn.data<float>()[i];
  }

  Options options_;
};

}  // namespace

namespace compressor {

/// Source: Stich, Cordonnier and Jaggi, "Sparsified SGD with Memory" (NeurIPS 2018).
void register_random_k(Registry<GradientCompressorEntry>& registry) {
  registry.add("random_k",
               GradientCompressorEntry::of<RandomKCompressor>(
                   "random-k sparsification, the same elements on all ranks (Stich et al., 2018)"));
}

}  // namespace compressor
}  // namespace d5
