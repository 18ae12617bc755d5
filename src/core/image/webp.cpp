// SPDX-License-Identifier: Apache-2.0
#include <webp/decode.h>

#include "core/image/format.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {

Tensor decode_webp(ImageBytes bytes) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK) {
    throw_damaged("WebP", "its header cannot be read");
  }
  if (features.has_animation != 0) {
    throw Unsupported("image: an animated WebP image is not decoded; take one of its frames");
  }
  Tensor image = rgb_image(features.height, features.width);
  if (!WebPDecodeRGBInto(bytes.data(), bytes.size(), image.data<std::uint8_t>(), image.bytes(),
                         features.width * 3)) {
    throw_damaged("WebP", "its pixels cannot be read");
  }
  return image;
}

}  // namespace d5::detail
