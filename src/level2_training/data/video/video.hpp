// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The pictures of a video, in their order. One thread reads it.
class Video {
 public:
  virtual ~Video() = default;
  /// Receives requested frame number `i`: uint8 {height, width, 3}, RGB, valid during the call.
  using Take = std::function<void(std::size_t i, const Tensor& picture)>;

  [[nodiscard]] virtual std::int64_t pictures() = 0;
  /// Hands over those at `places`, which do not descend.
  /// Throws: FormatError for a damaged video, or one that ends before a place.
  virtual void read(std::span<const std::int64_t> places, const Take& take) = 0;
};

/// The image files of a folder, by name. Throws: NotFound where there are none, IoError.
[[nodiscard]] std::unique_ptr<Video> open_picture_folder(const std::string& folder);

/// Opens a file of a format that libav knows, such as AVI.
/// Throws: IoError, FormatError; Unsupported if d5 was built without libav, with a way out.
[[nodiscard]] std::unique_ptr<Video> open_video_file(const std::string& path);

}  // namespace d5::detail
