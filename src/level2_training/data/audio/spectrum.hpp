// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <vector>

namespace d5::detail {

/// Power spectra of real frames of one length, by a fast Fourier transform. Used by one thread.
class Spectrum {
 public:
  explicit Spectrum(std::size_t length);
  ~Spectrum();
  Spectrum(const Spectrum&) = delete;
  Spectrum& operator=(const Spectrum&) = delete;

  /// |X|^2 of the bins 0 to length / 2, valid until the next call.
  [[nodiscard]] std::span<const float> power(std::span<const float> frame);

 private:
  class Transform;
  std::unique_ptr<Transform> transform_;
  std::vector<float> frame_, power_;
  std::vector<std::complex<float>> bins_;
};

}  // namespace d5::detail
