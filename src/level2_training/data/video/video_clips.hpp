// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"
#include "level2_training/data/video/video.hpp"

namespace d5::detail {

/// A video and its class.
struct LabelledVideo {
  std::string path;  ///< path of the file; a folder of that name without extension takes precedence
  std::string name;  ///< for people
  std::int64_t label = 0;
};

/// Frames of a clip, and their size.
struct ClipOptions {
  std::int64_t frames = 16;            ///< pictures of a clip
  std::int64_t stride = 1;             ///< distance between frames
  std::int64_t height = 0, width = 0;  ///< 0: as the video is
  enum class Start { random, middle } start = Start::middle;
};

/// "clip" uint8 {frames, height, width, 3}, RGB, and "label" int64. If a clip is longer than its
/// video, the last frame is repeated. Its first frame is drawn from `draw.stream("clip", sample)`,
/// or the clip is centred.
class VideoClips final : public Dataset {
 public:
  VideoClips(std::string name, std::string origin, std::vector<LabelledVideo> videos,
             const ClipOptions& options);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string description() const override;
  /// Digest of the names and labels of all videos.
  [[nodiscard]] std::vector<Artefact> artefacts() const override;
  [[nodiscard]] std::int64_t size() const override { return std::int64_t(videos_.size()); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override;
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view field) const override;
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override;

 private:
  [[nodiscard]] std::vector<std::int64_t> places(std::int64_t pictures, const Draw& draw,
                                                 std::int64_t index) const;
  void read_clip(std::int64_t index, const Draw& draw, std::size_t row, Tensor& clips) const;

  std::string name_, origin_;
  std::vector<LabelledVideo> videos_;
  ClipOptions options_;
  std::vector<Field> fields_;
};

}  // namespace d5::detail
