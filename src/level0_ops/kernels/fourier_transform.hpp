// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace d5::detail {

/// The discrete Fourier transform of one length, X[k] = sum over t of x[t] exp(-2 pi i k t / n), in
/// O(n log n) for every n, in double precision.
///
/// Lengths with small prime factors use mixed radices, others a convolution of such a length.
/// Source: Cooley and Tukey (1965), in Stockham's order, which needs no permutation; Bluestein, "A
/// linear filtering approach to the computation of discrete Fourier transform" (1970).
///
/// Thread safety: `run` is const; each thread passes its own memory.
class FourierTransform {
 public:
  using Complex = std::complex<double>;

  /// `length` is positive. Throws: MemoryError above the memory budget.
  explicit FourierTransform(std::int64_t length);

  [[nodiscard]] std::int64_t length() const { return length_; }
  /// Number of elements of `work` in `run`.
  [[nodiscard]] std::int64_t work_length() const;
  /// Transforms in place. The inverse, without the division by n, is the transform between two
  /// conjugations.
  void run(Complex* data, Complex* work) const;

 private:
  void run_mixed(Complex* data, Complex* work) const;
  void run_bluestein(Complex* data, Complex* work) const;
  /// A step of Stockham's algorithm: `rest` is the remaining length, `done` the transformed one.
  void step(std::int64_t radix, std::int64_t rest, std::int64_t done, const Complex* from,
            Complex* to) const;

  std::int64_t length_;
  std::vector<std::int64_t> radices_;
  std::vector<Complex> roots_;  ///< exp(-2 pi i k / n); Bluestein's: exp(-pi i k^2 / n)
  // For Bluestein's algorithm only.
  std::unique_ptr<const FourierTransform> convolution_;
  std::vector<Complex> filter_;  ///< transformed, divided by its length
};

}  // namespace d5::detail
