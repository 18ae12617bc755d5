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

/// Sequential access to the frames of a video, by one thread.
class Video {
 public:
  virtual ~Video() = default;
  /// Receives requested frame number `i`: uint8 {height, width, 3}, RGB, valid during the call.
  using Take = std::function<void(std::size_t i, const Tensor& picture)>;

  [[nodiscard]] virtual std::int64_t pictures() = 0;
  /// Reads the frames `places`, in non-descending order.
  /// Throws: FormatError for a damaged video, or one that ends too early.
  virtual void read(std::span<const std::int64_t> places, const Take& take) = 0;
};

/// Opens the image files of a folder, by name. Throws: NotFound if there are none; IoError.
[[nodiscard]] std::unique_ptr<Video> open_picture_folder(const std::string& folder);

/// Opens a file of a format that libav knows, such as AVI.
/// Throws: IoError, FormatError; Unsupported if d5 was built without libav, with a way out.
[[nodiscard]] std::unique_ptr<Video> open_video_file(const std::string& path);

}  // namespace d5::detail
