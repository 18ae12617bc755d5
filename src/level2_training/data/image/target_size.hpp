// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/core/entries/option.hpp"
#include "d5/core/image/image.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// Target size of an image: that of its shorter side, keeping the aspect ratio, or both sides.
struct TargetSize {
  std::int64_t size = 0, height = 0, width = 0;
  enum class Sides { cut, nearest };
  Sides sides = Sides::cut;  ///< rounding of the longer side; cut, as in torchvision

  /// Declares options for the three numbers.
  void declare(OptionList& options);
  /// Throws: ValueError, with the step's name, unless exactly one of both is given.
  void expect_one(const std::string& step) const;
  [[nodiscard]] ImageSize of(const ImageSize& image) const;
  /// Output type of a step that resizes. Throws: as `expect_bytes`.
  [[nodiscard]] TensorDesc describe(const TensorDesc& in) const;
};

}  // namespace d5::detail
