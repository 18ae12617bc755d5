// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/video/video_clips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/files/files_read.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "level2_training/data/batch_check.hpp"
#include "level2_training/data/encoded_files.hpp"
#include "level2_training/data/image/resampler.hpp"

namespace d5::detail {
namespace {

/// The folder of the pictures of a video, which takes the place of its file.
std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).replace_extension().string();
}

/// Notes the video's file, or its pictures.
void note_files(const std::string& path) {
  std::error_code absent;
  const std::string folder = folder_of(path);
  if (!std::filesystem::is_directory(folder, absent)) return FilesRead::note(path);
  for (const EncodedFile& one : files_below(folder, image_endings(), {})) FilesRead::note(one.path);
}

std::unique_ptr<Video> open_video(const std::string& path) {
  std::error_code ignored;
  const std::string folder = folder_of(path);
  if (std::filesystem::is_directory(folder, ignored)) return open_picture_folder(folder);
  if (std::filesystem::exists(path, ignored)) return open_video_file(path);
  throw IoError(fmt::format("neither the video '{}' is there, nor a folder '{}' of its pictures",
                            printable(path), printable(folder)));
}

}  // namespace

VideoClips::VideoClips(std::string name, std::string origin, std::vector<LabelledVideo> videos,
                       const ClipOptions& options)
    : name_(std::move(name)),
      origin_(std::move(origin)),
      videos_(std::move(videos)),
      options_(options) {
  const bool is_open = options.height == 0;
  fields_ = {{"clip",
              {DType::uint8,
               {options.frames, is_open ? kUnknownDim : options.height,
                is_open ? kUnknownDim : options.width, 3}}},
             {"label", {DType::int64, {}}}};
}

std::string VideoClips::description() const {
  return fmt::format("{} clips of {} pictures {}", size(), options_.frames, origin_);
}

std::vector<Artefact> VideoClips::artefacts() const {
  Sha256 sum;
  for (const auto& video : videos_) {
    note_files(video.path);
    sum.add(fmt::format("{} {} {}\n", video.name.size(), video.name, video.label));
  }
  return {{.name = name_, .version = description(), .sha256 = sum.digest()}};
}

std::string VideoClips::sample_name(std::int64_t index) const {
  check_index(*this, index);
  return videos_[std::size_t(index)].name;
}

std::vector<std::int64_t> VideoClips::labels(std::string_view field) const {
  if (field != "label") return Dataset::labels(field);  // throws the error
  std::vector<std::int64_t> all;
  for (const auto& video : videos_) all.push_back(video.label);
  return all;
}

std::vector<std::int64_t> VideoClips::places(std::int64_t pictures, const Draw& draw,
                                             std::int64_t index) const {
  const std::int64_t span = (options_.frames - 1) * options_.stride + 1;
  const std::int64_t free = std::max<std::int64_t>(0, pictures - span);
  std::int64_t begin = free / 2;
  if (options_.start == ClipOptions::Start::random) {
    begin = std::int64_t(draw.stream("clip", index).below(std::uint64_t(free) + 1));
  }
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < options_.frames; ++i) {
    all.push_back(std::min(begin + i * options_.stride, pictures - 1));
  }
  return all;
}

void VideoClips::read_clip(std::int64_t index, const Draw& draw, std::size_t row,
                           Tensor& clips) const {
  const LabelledVideo& file = videos_[std::size_t(index)];
  const auto video = open_video(file.path);
  Resampler resampler;
  ImageSize size{options_.height, options_.width};
  std::uint8_t* to = nullptr;
  video->read(places(video->pictures(), draw, index), [&](std::size_t i, const Tensor& picture) {
    const ImageSize given{picture.shape()[0], picture.shape()[1]};
    const bool is_open = options_.height == 0;
    if (i == 0) {
      if (is_open) {
        size = given;
        clips = Tensor::empty(DType::uint8, {1, options_.frames, size.height, size.width, 3});
      }
      to = clips.data<std::uint8_t>() +
           std::int64_t(row) * options_.frames * size.height * size.width * 3;
    }
    const auto* const pixels = picture.data<std::uint8_t>();
    if (given == size) {
      std::memcpy(to, pixels, picture.bytes());
    } else if (!is_open) {
      resampler.run({pixels, given.height, given.width, 3, 3 * given.width},
                    {0, 0, double(given.height), double(given.width)}, to, size);
    } else {
      throw FormatError(fmt::format(
          "'{}': a picture is {}x{}, but the clip's first one {}x{}; give height and width",
          printable(file.path), given.height, given.width, size.height, size.width));
    }
    to += size.height * size.width * 3;
  });
}

void VideoClips::read(std::span<const std::int64_t> indices, const Draw& draw,
                      std::span<Tensor> batch) const {
  check_batch(*this, indices, batch);
  for (std::size_t row = 0; row < indices.size(); ++row) {
    read_clip(indices[row], draw, row, batch[0]);
    batch[1].data<std::int64_t>()[row] = videos_[std::size_t(indices[row])].label;
  }
}

}  // namespace d5::detail
