// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"

namespace d5::detail {
namespace {

/// A matrix M (rows x columns) of a bucket, and the places of its factors: P as `rank` rows of
/// `rows` elements, Q as `rank` rows of `columns` elements.
struct LowRankMatrix {
  std::int64_t offset, rows, columns, rank, p_offset, q_offset;
};

/// The parts of a bucket: matrices to factorise, and vectors sent uncompressed.
class LowRankLayout {
 public:
  LowRankLayout(std::span<const GradientPart> parts, std::int64_t elements, std::int64_t rank);
  [[nodiscard]] const std::vector<LowRankMatrix>& matrices() const { return matrices_; }
  [[nodiscard]] std::int64_t p_size() const { return p_size_; }
  [[nodiscard]] std::int64_t q_size() const { return q_size_; }
  [[nodiscard]] std::int64_t whole_size() const { return whole_size_; }
  [[nodiscard]] std::size_t p_begin_of_whole() const { return static_cast<std::size_t>(p_size_); }
  void gather_whole(std::span<const float> bucket, std::span<float> whole) const;
  void scatter_whole(std::span<const float> whole, std::span<float> bucket) const;

 private:
  std::vector<LowRankMatrix> matrices_;
  std::vector<GradientPart> whole_;
  std::int64_t p_size_ = 0, q_size_ = 0, whole_size_ = 0;
};

/// Dot product in lanes, so that it vectorises with the same order on every machine.
template <class Sum>
Sum dot(const float* a, const float* b, std::int64_t n) {
  constexpr std::int64_t kLanes = 16;
  Sum lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] += Sum(a[i + l]) * Sum(b[i + l]);
  }
  Sum sum = 0;
  for (; i < n; ++i) sum += Sum(a[i]) * Sum(b[i]);
  for (const Sum lane : lanes) sum += lane;
  return sum;
}

void add_scaled(float* into, float factor, const float* other, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) into[i] += factor * other[i];
}

LowRankLayout::LowRankLayout(std::span<const GradientPart> parts, std::int64_t elements,
                             std::int64_t rank) {
  for (const GradientPart& part : parts) {
    const std::int64_t n = part.shape.elements();
    if (part.shape.rank() < 2 || n == 0) {
      whole_.push_back(part);
      whole_size_ += n;
      continue;
    }
    const std::int64_t rows = part.shape[0], columns = n / rows;
    const std::int64_t least = std::min({rank, rows, columns});
    matrices_.push_back({part.offset, rows, columns, least, p_size_, q_size_});
    p_size_ += least * rows;
    q_size_ += least * columns;
  }
  if (parts.empty()) {
    whole_.push_back({0, {elements}});
    whole_size_ = elements;
  }
}

void LowRankLayout::gather_whole(std::span<const float> bucket, std::span<float> whole) const {
  auto place = whole.begin();
  for (const GradientPart& part : whole_) {
    place = std::copy_n(bucket.begin() + part.offset, part.shape.elements(), place);
  }
}

void LowRankLayout::scatter_whole(std::span<const float> whole, std::span<float> bucket) const {
  auto place = whole.begin();
  for (const GradientPart& part : whole_) {
    std::copy_n(place, part.shape.elements(), bucket.begin() + part.offset);
    place += part.shape.elements();
  }
}

/// P = M Q.
void multiply(const float* m, const LowRankMatrix& shape, const float* q, float* p) {
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    for (std::int64_t r = 0; r < shape.rank; ++r) {
      p[r * shape.rows + i] =
          dot<float>(m + i * shape.columns, q + r * shape.columns, shape.columns);
    }
  }
}

/// Q = M^T P.
void multiply_transposed(const float* m, const LowRankMatrix& shape, const float* p, float* q) {
  std::fill_n(q, shape.rank * shape.columns, 0.0f);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    for (std::int64_t r = 0; r < shape.rank; ++r) {
      add_scaled(q + r * shape.columns, p[r * shape.rows + i], m + i * shape.columns,
                 shape.columns);
    }
  }
}

/// M = P Q^T.
void expand(const float* p, const float* q, const LowRankMatrix& shape, float* m) {
  std::fill_n(m, shape.rows * shape.columns, 0.0f);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    for (std::int64_t r = 0; r < shape.rank; ++r) {
      add_scaled(m + i * shape.columns, p[r * shape.rows + i], q + r * shape.columns,
                 shape.columns);
    }
  }
}

/// Orthonormalises P's rows by modified Gram-Schmidt; a row that depends on earlier ones becomes
/// zero.
void orthogonalise(float* p, const LowRankMatrix& shape) {
  const std::int64_t n = shape.rows;
  for (std::int64_t r = 0; r < shape.rank; ++r) {
    float* row = p + r * n;
    const double before = dot<double>(row, row, n);
    // Two passes: if a row nearly depends on the others, the first pass leaves components of them
    // by rounding. Source: Giraud, Langou and Rozloznik (2005), "twice is enough".
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t other = 0; other < r; ++other) {
        const double along = dot<double>(row, p + other * n, n);
        add_scaled(row, static_cast<float>(-along), p + other * n, n);
      }
    }
    const double after = dot<double>(row, row, n);
    // Below this share of its old squared norm (some roundings of 2^-24), the row is only rounding
    // error.
    constexpr double kRounding = 64 * 0x1p-24 * 0x1p-24;
    const bool depends = after <= kRounding * before;
    const auto factor = depends ? 0.0f : static_cast<float>(1 / std::sqrt(after));
    for (std::int64_t i = 0; i < n; ++i) row[i] *= factor;
  }
}

/// Whether the norm is finite and not zero.
bool is_direction(std::span<const float> row) {
  const double norm = dot<double>(row.data(), row.data(), static_cast<std::int64_t>(row.size()));
  return std::isfinite(norm) && norm > 0;
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

struct PowerSgdOptions {
  std::int64_t rank = 4;
  bool warm_start = true;
  std::uint64_t seed = 0;

  void declare(OptionList& options) {
    options.add("rank", rank, "rank of the approximation of each gradient matrix", {.least = 1});
    options.add("warm_start", warm_start, "start from the last step's Q instead of a random one");
    options.add("seed", seed, "seed of the first Q, the same on all ranks");
  }
};

/// Approximates each parameter that is a matrix M (m x c: its first dimension, and the product of
/// the others) by factors of rank r, at most m and c:
///
///     P = sum over ranks of M Q, orthogonalised;   Q = M^T P, kept for the next step;
///     the result is P (sum over ranks of Q)^T, to which this rank contributes P Q^T.
///
/// Biases and other vectors are sent uncompressed with the P.
/// Units: 4 r (m + c) bytes per matrix, 4 n per vector, in two all-reduces.
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
      std::ranges::fill(rest.span<float>(), 0.0f);  // vectors are exact
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

  /// Throws: ShapeError if a checkpoint's Q does not fit.
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
        // A direction that is zero or not finite would never recover.
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
                                "low-rank gradient compression (PowerSGD, Vogels et al., 2019)"));
}

}  // namespace compressor
}  // namespace d5
