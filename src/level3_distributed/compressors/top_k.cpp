// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/level3_distributed/sparse/sparse_stream.hpp"
#include "level3_distributed/compressors/parts/kept_fraction.hpp"

namespace d5 {
namespace {

/// Top-k sparsification: the k elements of largest magnitude of each bucket as pairs of index and
/// value, or all values if the pairs would take as many bytes. Units: 4 + 8 k bytes, or 4 + 4 n.
class TopKCompressor final : public GatheredCompressor {
 public:
  using Options = detail::KeptFraction;
  explicit TopKCompressor(const Options& options) : kept_(options) {}

  std::int64_t message_bytes(std::int64_t elements) const override {
    const std::int64_t k = kept_.of(elements);
    return 2 * k >= elements ? SparseStream::most_message_bytes(elements) : 4 + 8 * k;
  }

  std::optional<double> rest_bound(std::int64_t elements) const override {
    return 1 - static_cast<double>(kept_.of(elements)) / static_cast<double>(elements);
  }

  void compress(std::span<const float> value, RandomStream&,
                std::span<std::uint8_t> message) override {
    const auto size = static_cast<std::int64_t>(value.size());
    std::vector<std::uint32_t> indexes = largest_magnitudes(value, kept_.of(size));
    std::vector<float> values(indexes.size());
    for (std::size_t i = 0; i < indexes.size(); ++i) values[i] = value[indexes[i]];
    SparseStream(size, std::move(indexes), std::move(values)).encode(message);
  }

  void add(std::span<const std::uint8_t> message, float factor,
           std::span<float> values) const override {
    const SparseStream sent =
        SparseStream::decode(message, static_cast<std::int64_t>(values.size()));
    const auto its = sent.values();
    if (sent.is_dense()) {
      for (std::size_t i = 0; i < its.size(); ++i) values[i] += factor * its[i];
    } else {
      for (std::size_t i = 0; i < its.size(); ++i) values[sent.indexes()[i]] += factor * its[i];
    }
  }

 private:
  detail::KeptFraction kept_;
};

}  // namespace

namespace compressor {

/// Source: Aji and Heafield, "Sparse Communication for Distributed Gradient Descent" (EMNLP 2017);
/// Stich, Cordonnier and Jaggi, "Sparsified SGD with Memory" (NeurIPS 2018).
void register_top_k(Registry<GradientCompressorEntry>& registry) {
  registry.add("top_k", GradientCompressorEntry::of<TopKCompressor>(
                            "top-k sparsification of each bucket (Aji and Heafield, 2017)"));
}

}  // namespace compressor
}  // namespace d5
