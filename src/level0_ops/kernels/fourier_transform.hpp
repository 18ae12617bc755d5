// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace d5::detail {

/// The discrete Fourier transform of one length, X[k] = sum over t of x[t] exp(-2 pi i k t / n), in
/// O(n log n) steps for every n, in double.
///
/// Lengths of small prime factors go by mixed radices, others as a convolution of such a length.
/// Source: Cooley and Tukey (1965), in Stockham's order, which needs no permutation; Bluestein, "A
/// linear filtering approach to the computation of discrete Fourier transform" (1970).
///
/// Thread safety: `run` is const; each thread brings its own memory.
class FourierTransform {
 public:
  using Complex = std::complex<double>;

  /// `length` is positive. Throws: MemoryError above the memory budget.
  explicit FourierTransform(std::int64_t length);

  [[nodiscard]] std::int64_t length() const { return length_; }
  /// Numbers that `run` needs besides.
  [[nodiscard]] std::int64_t work_length() const;
  /// In place. The inverse, without its division by n, is the same between two conjugations.
  void run(Complex* data, Complex* work) const;

 private:
  void run_mixed(Complex* data, Complex* work) const;
  void run_bluestein(Complex* data, Complex* work) const;
  /// One step of Stockham's: `rest` is the length that is left, `done` what was done.
  void step(std::int64_t radix, std::int64_t rest, std::int64_t done, const Complex* from,
            Complex* to) const;

  std::int64_t length_;
  std::vector<std::int64_t> radices_;
  std::vector<Complex> roots_;  ///< exp(-2 pi i k / n); Bluestein's: exp(-pi i k^2 / n)
  // Of Bluestein's alone.
  std::unique_ptr<const FourierTransform> convolution_;
  std::vector<Complex> filter_;  ///< transformed, divided by its length
};

}  // namespace d5::detail
