// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace d5::detail {

/// The decoded samples of an audio file.
struct Audio {
  std::int64_t rate = 0;  ///< samples per second of a channel
  std::int64_t channels = 0;
  std::vector<float> samples = {};  ///< -1 to 1; the channels of a time together
};

/// Decodes a file in memory: WAV, FLAC, Ogg and what else the library knows. `audio`'s memory is
/// reused. Throws: FormatError for a broken file and one of more than `most_samples` (of all
/// channels); Unsupported if d5 was built without the library, with a way out.
void decode_audio(std::span<const std::byte> file, std::int64_t most_samples, Audio& audio);

}  // namespace d5::detail
