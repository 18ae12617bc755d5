// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/image/image.hpp"
#include "level2_training/data/encoded_files.hpp"
#include "level2_training/data/video/video.hpp"

namespace d5::detail {
namespace {

class PictureFolder final : public Video {
 public:
  explicit PictureFolder(const std::string& folder)
      : files_(files_below(folder, image_endings(), {})) {
    if (files_.empty()) {
      throw NotFound(fmt::format("folder '{}' holds no pictures of a video", printable(folder)));
    }
  }

  std::int64_t pictures() override { return std::int64_t(files_.size()); }
  void read(std::span<const std::int64_t> places, const Take& take) override {
    Tensor picture;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (i == 0 || places[i] != places[i - 1]) {
        picture = decoded(files_.at(std::size_t(places[i])).path);
      }
      take(i, picture);
    }
  }

 private:
  static Tensor decoded(const std::string& path) {
    const std::string bytes = read_file(path, memory_budget());
    try {
      return decode_image(std::as_bytes(std::span(bytes)));
    } catch (const FormatError& error) {
      throw FormatError(fmt::format("'{}': {}", printable(path), error.what()));
    }
  }

  std::vector<EncodedFile> files_;
};

}  // namespace

std::unique_ptr<Video> open_picture_folder(const std::string& folder) {
  return std::make_unique<PictureFolder>(folder);
}

}  // namespace d5::detail
