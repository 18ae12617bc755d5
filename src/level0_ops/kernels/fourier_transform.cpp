// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/fourier_transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {
namespace {

using Complex = FourierTransform::Complex;

// A step of radix p takes p operations per element; above this a convolution is cheaper.
constexpr std::int64_t kLargestRadix = 31;

/// Faster than std::complex's product, which checks for NaN.
Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// a times -i
Complex turned(const Complex& a) { return {a.imag(), -a.real()}; }

/// exp(-2 pi i k / n)
Complex root(std::int64_t k, std::int64_t n) {
  const double angle = 2 * std::numbers::pi * double(k) / double(n);
  return {std::cos(angle), -std::sin(angle)};
}

/// Throws: MemoryError if the roots, the filter and a run's memory would exceed the budget.
std::int64_t affordable(std::int64_t length) {
  // Bluestein's, padded to less than four times the length.
  constexpr std::int64_t kMostPerElement = 17;
  const std::size_t bytes = TensorDesc{DType::complex128, {length, kMostPerElement}}.bytes();
  if (bytes <= memory_budget()) return length;
  throw MemoryError(fmt::format(
      "a Fourier transform of length {} takes up to {} bytes, above the memory budget of {}",
      length, bytes, memory_budget()));
}

/// Radices of 4 first, then primes. The last one may exceed `kLargestRadix`.
std::vector<std::int64_t> radices_of(std::int64_t n) {
  std::vector<std::int64_t> result;
  for (; n % 4 == 0; n /= 4) result.push_back(4);
  for (std::int64_t p = 2; p <= kLargestRadix; ++p) {
    for (; n % p == 0; n /= p) result.push_back(p);
  }
  if (n > 1) result.push_back(n);
  return result;
}

}  // namespace

FourierTransform::FourierTransform(std::int64_t length)
    : length_(affordable(length)), radices_(radices_of(length)) {
  const auto n = std::size_t(length);
  roots_.resize(n);
  if (radices_.empty() || radices_.back() <= kLargestRadix) {
    for (std::size_t k = 0; k < n; ++k) roots_[k] = root(std::int64_t(k), length);
    return;
  }
  // k t = (k^2 + t^2 - (k - t)^2) / 2, so X is a convolution with exp(pi i t^2 / n).
  std::int64_t square = 0;  // k^2 modulo 2 n
  for (std::int64_t k = 0; k < length; ++k) {
    roots_[std::size_t(k)] = root(square, 2 * length);
    square = (square + 2 * k + 1) % (2 * length);
  }
  const std::size_t padded = std::bit_ceil(2 * n - 1);
  convolution_ = std::make_unique<const FourierTransform>(std::int64_t(padded));
  filter_.resize(padded);
  filter_[0] = std::conj(roots_[0]);
  for (std::size_t k = 1; k < n; ++k) filter_[k] = filter_[padded - k] = std::conj(roots_[k]);
  std::vector<Complex> work(padded);
  convolution_->run(filter_.data(), work.data());
  for (Complex& value : filter_) value /= double(padded);
}

std::int64_t FourierTransform::work_length() const {
  return convolution_ ? 2 * convolution_->length() : length_;
}

void FourierTransform::run(Complex* data, Complex* work) const {
  convolution_ ? run_bluestein(data, work) : run_mixed(data, work);
}

void FourierTransform::run_mixed(Complex* data, Complex* work) const {
  Complex *from = data, *to = work;
  std::int64_t done = 1;
  for (const std::int64_t radix : radices_) {
    step(radix, length_ / done, done, from, to);
    done *= radix;
    std::swap(from, to);
  }
  if (from != data) std::copy_n(from, length_, data);
}

void FourierTransform::step(std::int64_t radix, std::int64_t rest, std::int64_t done,
                            const Complex* from, Complex* to) const {
  const std::int64_t part = rest / radix, stride = done * part;
  std::array<Complex, kLargestRadix> x, twiddle;
  for (std::int64_t q = 0; q < part; ++q) {
    for (std::int64_t j = 1; j < radix; ++j) {
      twiddle[std::size_t(j)] = roots_[std::size_t(q * j * done)];
    }
    const Complex* source = from + q * done;
    Complex* target = to + q * radix * done;
    for (std::int64_t k = 0; k < done; ++k) {
      for (std::int64_t r = 0; r < radix; ++r) x[std::size_t(r)] = source[k + r * stride];
      Complex* y = target + k;
      if (radix == 2) {
        y[0] = x[0] + x[1];
        y[done] = product(twiddle[1], x[0] - x[1]);
      } else if (radix == 4) {
        const Complex even = x[0] + x[2], odd = x[1] + x[3];
        const Complex even_difference = x[0] - x[2], odd_difference = turned(x[1] - x[3]);
        y[0] = even + odd;
        y[done] = product(twiddle[1], even_difference + odd_difference);
        y[2 * done] = product(twiddle[2], even - odd);
        y[3 * done] = product(twiddle[3], even_difference - odd_difference);
      } else {
        for (std::int64_t j = 0; j < radix; ++j) {
          Complex sum = x[0];
          for (std::int64_t r = 1; r < radix; ++r) {
            sum +=
                product(roots_[std::size_t(r * j % radix * (length_ / radix))], x[std::size_t(r)]);
          }
          y[j * done] = j == 0 ? sum : product(twiddle[std::size_t(j)], sum);
        }
      }
    }
  }
}

void FourierTransform::run_bluestein(Complex* data, Complex* work) const {
  const std::int64_t padded = convolution_->length();
  Complex* sum = work;
  for (std::int64_t t = 0; t < length_; ++t) sum[t] = product(data[t], roots_[std::size_t(t)]);
  std::fill(sum + length_, sum + padded, Complex(0));
  convolution_->run(sum, work + padded);
  for (std::int64_t k = 0; k < padded; ++k) {
    sum[k] = std::conj(product(sum[k], filter_[std::size_t(k)]));
  }
  convolution_->run(sum, work + padded);
  for (std::int64_t k = 0; k < length_; ++k) {
    data[k] = product(std::conj(sum[k]), roots_[std::size_t(k)]);
  }
}

}  // namespace d5::detail
