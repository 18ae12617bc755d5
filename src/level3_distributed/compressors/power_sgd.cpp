// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>

#include "d5/core/error.hpp"
#include "d5/level3_distributed/gradient_compressor.hpp"
#include "level3_distributed/compressors/parts/low_rank.hpp"

namespace d5 {
namespace {

struct PowerSgdOptions {
  std::int64_t rank = 4;
  bool warm_start = true;
  std::uint64_t seed = 0;

  void declare(OptionList& options) {
    options.add("rank", rank, "of the matrices that stand for each gradient", {.least = 1});
    options.add("warm_start", warm_start, "begins with the last step's Q, not with a new draw");
    options.add("seed", seed, "of the first Q, the same on all ranks");
  }
};

/// Of each parameter that is a matrix M (m x c: its first dimension, and the others together), with
/// r at most m and c:
///
///     P = sum over ranks of M Q, orthogonalised;   Q = M^T P, kept for the next step;
///     the result is P (sum over ranks of Q)^T, and P Q^T of it is this rank's.
///
/// Biases and other vectors are sent whole, beside the P.
/// Units: 4 r (m + c) bytes a matrix, 4 n a vector, in two all-reduces.
class PowerSgdCompressor final : public GradientCompressor {
 public:
  using Options = PowerSgdOptions;
  explicit PowerSgdCompressor(const Options& options) : options_(options) {}
  int rounds() const override { return 2; }

  std::unique_ptr<Request> start(Communicator& ranks, AllReduce& all_reduce, Tensor value,
                                 Tensor rest, const CompressionPlace& place) override {
    return run_schedule(ranks, sum(ranks, all_reduce, std::move(value), std::move(rest), place));
  }

  ValueMap state() const override {
    ValueMap state;
    for (const auto& [bucket, q] : q_) state["q/" + std::to_string(bucket)] = q.copy();
    return state;
  }

  void restore(const ValueMap& state) override {
    q_.clear();
    for (const auto& [name, value] : state) {
      std::size_t bucket = 0;
      const char* end = name.data() + name.size();
      if (!name.starts_with("q/") || std::from_chars(name.data() + 2, end, bucket).ptr != end) {
        throw NotFound("power_sgd: the checkpoint holds " + printable(name) +
                       ", expected q/ and a bucket's number");
      }
      q_[bucket] = value.tensor().copy();
      (void)q_[bucket].data<float>();  // throws: TypeError
    }
  }

 private:
  CommunicationSchedule sum(Communicator& ranks, AllReduce& all_reduce, Tensor value, Tensor rest,
                            CompressionPlace place) {
    const detail::LowRankLayout layout(place.parts, value.elements(), options_.rank);
    Tensor& q = q_of(place, layout);
    Tensor p = Tensor::empty(DType::float32, {layout.p_size() + layout.whole_size()});
    for (const detail::LowRankMatrix& m : layout.matrices()) {
      detail::multiply(value.data<float>() + m.offset, m, q.data<float>() + m.q_offset,
                       p.data<float>() + m.p_offset);
    }
    layout.gather_whole(value.span<float>(), p.span<float>().subspan(layout.p_begin_of_whole()));
    auto p_summed = all_reduce.start(ranks, p);
    co_await p_summed;

    for (const detail::LowRankMatrix& m : layout.matrices()) {
      detail::orthogonalise(p.data<float>() + m.p_offset, m);
      detail::multiply_transposed(value.data<float>() + m.offset, m, p.data<float>() + m.p_offset,
                                  q.data<float>() + m.q_offset);
    }
    if (rest.defined()) {
      std::ranges::fill(rest.span<float>(), 0.0f);  // vectors were sent whole
      for (const detail::LowRankMatrix& m : layout.matrices()) {
        float* left = rest.data<float>() + m.offset;
        detail::expand(p.data<float>() + m.p_offset, q.data<float>() + m.q_offset, m, left);
        const float* whole = value.data<float>() + m.offset;
        for (std::int64_t i = 0; i < m.rows * m.columns; ++i) left[i] = whole[i] - left[i];
      }
    }
    auto q_summed = all_reduce.start(ranks, q);
    co_await q_summed;
    layout.scatter_whole(p.span<float>().subspan(layout.p_begin_of_whole()), value.span<float>());
    for (const detail::LowRankMatrix& m : layout.matrices()) {
      detail::expand(p.data<float>() + m.p_offset, q.data<float>() + m.q_offset, m,
                     value.data<float>() + m.offset);
    }
  }

  /// Throws: ShapeError where a checkpoint's does not fit.
  Tensor& q_of(const CompressionPlace& place, const detail::LowRankLayout& layout) {
    Tensor& q = q_[place.bucket];
    if (q.defined() && q.elements() != layout.q_size()) {
      throw ShapeError(fmt::format(
          "power_sgd: Q of bucket {} has {} elements, rank {} needs {}; were rank or bucket_bytes "
          "others when the checkpoint was written?",
          place.bucket, q.elements(), options_.rank, layout.q_size()));
    }
    if (!q.defined()) q = Tensor::zeros(DType::float32, {layout.q_size()});
    RandomStream random = shared_compression_stream(options_.seed, place);
    for (const detail::LowRankMatrix& m : layout.matrices()) {
      for (std::int64_t r = 0; r < m.rank; ++r) {
        const std::span row(q.data<float>() + m.q_offset + r * m.columns,
                            static_cast<std::size_t>(m.columns));
        // Nothing comes back from a direction that is zero, or not finite.
        if (options_.warm_start && detail::is_direction(row)) continue;
        for (float& x : row) x = random.normal();
      }
    }
    return q;
  }

  Options options_;
  std::map<std::size_t, Tensor> q_;  // by bucket
};

}  // namespace

namespace compressor {

/// Source: Vogels, Karimireddy and Jaggi, "PowerSGD: Practical Low-Rank Gradient Compression for
/// Distributed Optimization" (NeurIPS 2019), algorithm 1.
void register_power_sgd(Registry<GradientCompressorEntry>& registry) {
  registry.add("power_sgd", GradientCompressorEntry::of<PowerSgdCompressor>(
                                "matrices of low rank (Vogels et al., 2019)"));
}

}  // namespace compressor
}  // namespace d5
