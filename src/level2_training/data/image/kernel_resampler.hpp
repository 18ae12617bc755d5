// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/sample_step.hpp"

namespace d5::detail {

enum class ResampleKernel { nearest, bilinear, bicubic, area };

/// How a library finds the pixels that one of another grid is made of.
struct KernelRule {
  ResampleKernel kernel = ResampleKernel::bilinear;
  bool antialias = false;  ///< where an image shrinks the kernel grows as much
  bool corner = false;     ///< pixel i lies at i times the scale; else centres do at the halves
  double cubic = -0.5;     ///< the slope of Keys' cubic
  bool nearest_corner = false;  ///< the nearest pixel is that of the corner, not of the centre
  bool rounds_between = false;  ///< rows are rounded to bytes before columns are resized
  bool clamps = false;  ///< pixels beyond the border are those at it; else the rest weighs more
};

/// All of `image`, uint8 {height, width, channels}, at the size of `out`: rows first, in float64,
/// rounded to bytes. Sources: Pillow's Resample.c, OpenCV's resize.cpp, TensorFlow's
/// scale_and_translate_op.cc and resize_bilinear_op.cc, for their rules.
void resample(const SampleView& image, const KernelRule& rule, const SampleView& out);

}  // namespace d5::detail
