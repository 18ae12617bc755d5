// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/evaluation/load/arrival_stream.hpp"

namespace d5 {
namespace {

double positive(const char* what, double value) {
  if (value > 0 && std::isfinite(value)) return value;
  throw ValueError(fmt::format("arrivals: {} is {}, expected a positive number", what, value));
}

/// Mean 1. 1 - u is in (0, 1], so that the logarithm is finite.
double exponential(RandomStream& random) { return -std::log1p(-random.uniform_double()); }

class ConstantArrivals final : public ArrivalStream {
 public:
  explicit ConstantArrivals(double rate) : rate_(positive("rate", rate)) {}
  std::optional<double> next() override { return double(count_++) / rate_; }

 private:
  double rate_;
  std::int64_t count_ = 0;
};

class PoissonArrivals final : public ArrivalStream {
 public:
  PoissonArrivals(double rate, std::uint64_t seed)
      : rate_(positive("rate", rate)), random_(seed, stream_of("poisson arrivals")) {}
  std::optional<double> next() override { return now_ += exponential(random_) / rate_; }

 private:
  double rate_, now_ = 0;
  RandomStream random_;
};

class GammaArrivals final : public ArrivalStream {
 public:
  GammaArrivals(double rate, double variation, std::uint64_t seed)
      : shape_(1 / std::pow(positive("variation", variation), 2)),
        scale_(1 / (shape_ * positive("rate", rate))),
        random_(seed, stream_of("gamma arrivals")) {}
  std::optional<double> next() override { return now_ += scale_ * gamma(); }

 private:
  /// Draws with scale 1. A shape below 1 uses shape + 1 times u^(1 / shape), as in the paper's
  /// section 6.
  double gamma() {
    if (shape_ >= 1) return of_shape(shape_);
    const double above = of_shape(shape_ + 1);
    return above * std::exp(-exponential(random_) / shape_);
  }
  double of_shape(double shape) {
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = random_.normal_double(), root = 1 + c * x;
      if (root <= 0) continue;
      const double v = root * root * root;
      if (-exponential(random_) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
    }
  }

  double shape_, scale_, now_ = 0;
  RandomStream random_;
};

class BurstArrivals final : public ArrivalStream {
 public:
  BurstArrivals(const BurstOptions& options, std::uint64_t seed)
      : options_{positive("rate", options.rate), positive("on", options.on_seconds),
                 positive("off", options.off_seconds)},
        random_(seed, stream_of("burst arrivals")) {
    burst_end_ = exponential(random_) * options_.on_seconds;
  }
  std::optional<double> next() override {
    for (;;) {
      const double arrival = now_ + exponential(random_) / options_.rate;
      if (arrival <= burst_end_) return now_ = arrival;
      // The exponential distribution is memoryless: the gap is drawn again after the silence.
      now_ = burst_end_ + exponential(random_) * options_.off_seconds;
      burst_end_ = now_ + exponential(random_) * options_.on_seconds;
    }
  }

 private:
  BurstOptions options_;
  double now_ = 0, burst_end_ = 0;
  RandomStream random_;
};

}  // namespace

std::unique_ptr<ArrivalStream> constant_arrivals(double rate) {
  return std::make_unique<ConstantArrivals>(rate);
}
std::unique_ptr<ArrivalStream> poisson_arrivals(double rate, std::uint64_t seed) {
  return std::make_unique<PoissonArrivals>(rate, seed);
}
std::unique_ptr<ArrivalStream> gamma_arrivals(double rate, double variation, std::uint64_t seed) {
  return std::make_unique<GammaArrivals>(rate, variation, seed);
}
std::unique_ptr<ArrivalStream> burst_arrivals(const BurstOptions& options, std::uint64_t seed) {
  return std::make_unique<BurstArrivals>(options, seed);
}

}  // namespace d5
