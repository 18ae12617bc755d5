// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace d5::detail {

/// Triangular filters over the bins of a spectrum, equally spaced on the mel scale.
///
/// Source: `slaney` is M. Slaney's Auditory Toolbox (linear below 1 kHz, each triangle of area 1),
/// `htk` S. Young et al., "The HTK Book" (2595 log10(1 + f / 700), each of height 1); as
/// librosa.filters.mel and torchaudio make them.
class MelBands {
 public:
  enum class Scale { slaney, htk };
  struct Options {
    std::int64_t rate = 16000;  ///< samples per second
    std::int64_t length = 400;  ///< samples of a frame, whose spectrum has length / 2 + 1 bins
    std::int64_t bands = 80;
    double low = 0, high = 8000;  ///< Hz
    Scale scale = Scale::slaney;
  };
  /// Throws: ValueError unless 0 <= low < high <= rate / 2.
  explicit MelBands(const Options& options);

  /// `out` has one value per band.
  void run(std::span<const float> spectrum, std::span<float> out) const;

 private:
  struct Band {
    std::size_t begin = 0;
    std::vector<double> weights = {};
  };
  std::vector<Band> bands_;
};

}  // namespace d5::detail
