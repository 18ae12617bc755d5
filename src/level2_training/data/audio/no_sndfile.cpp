// SPDX-License-Identifier: Apache-2.0
// Replaces sndfile.cpp if libsndfile was not found at configuration.
#include "d5/core/errors/error.hpp"
#include "level2_training/data/audio/audio_file.hpp"

namespace d5::detail {

void decode_audio(std::span<const std::byte>, std::int64_t, Audio&) {
  throw Unsupported(
      "this d5 was built without libsndfile (libsndfile1-dev), which decodes audio; install it and "
      "build d5 again, or make arrays of samples, such as an .npz file");
}

}  // namespace d5::detail
