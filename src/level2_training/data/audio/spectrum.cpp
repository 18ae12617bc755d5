// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/audio/spectrum.hpp"

#include <algorithm>
#include <unsupported/Eigen/FFT>

namespace d5::detail {

class Spectrum::Transform {
 public:
  void run(std::vector<std::complex<float>>& bins, const std::vector<float>& frame) {
    fft_.fwd(bins, frame);
  }

 private:
  Eigen::FFT<float> fft_{Eigen::default_fft_impl<float>(), Eigen::FFT<float>::HalfSpectrum};
};

Spectrum::Spectrum(std::size_t length)
    : transform_(std::make_unique<Transform>()), frame_(length), power_(length / 2 + 1) {}

Spectrum::~Spectrum() = default;

std::span<const float> Spectrum::power(std::span<const float> frame) {
  std::ranges::copy(frame, frame_.begin());
  transform_->run(bins_, frame_);
  for (std::size_t i = 0; i < power_.size(); ++i) power_[i] = std::norm(bins_[i]);
  return power_;
}

}  // namespace d5::detail
