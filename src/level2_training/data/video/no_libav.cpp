// SPDX-License-Identifier: Apache-2.0
// Replaces libav.cpp if libav was not found at configuration.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/video/video.hpp"

namespace d5::detail {

std::unique_ptr<Video> open_video_file(const std::string& path) {
  throw Unsupported(fmt::format(
      "'{}': this d5 was built without libav (libavformat-dev libavcodec-dev libswscale-dev), "
      "which decodes videos; install it and build d5 again, or make a folder of pictures of each "
      "video: ffmpeg -i v.avi v/%05d.jpg",
      printable(path)));
}

}  // namespace d5::detail
