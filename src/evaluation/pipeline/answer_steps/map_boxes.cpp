// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "evaluation/pipeline/score_row.hpp"

namespace d5::answer_step {
namespace {

struct MapBoxesOptions {
  std::string of;
  double threshold = 0.3, least_score = 0.5, growth = 1.6;
  std::int64_t least_side = 3;
  bool dilate = true;

  void declare(OptionList& options) {
    options.add("of", of, "name of the probability map, H x W or 1 x H x W; empty: the only value");
    options.add("threshold", threshold, "probability above which a pixel belongs to a region");
    options.add("least_score", least_score, "least mean probability in a region's rectangle");
    options.add("growth", growth,
                "growth of a rectangle on each side, as a multiple of its area over its perimeter",
                {.least = 0});
    options.add("least_side", least_side, "least side of a region in pixels", {.least = 1});
    options.add("dilate", dilate, "regions grow by a pixel to the right and below first");
  }
};

/// Regions of a map, joined at sides and corners, as upright rectangles that are grown back from
/// the kernel that the network was trained to mark: `boxes` float32 M x 4 by their corners, and
/// `scores` float32 M, in descending order of score. They replace the map.
///
/// Source: Liao et al., "Real-time Scene Text Detection with Differentiable Binarization" (2020),
/// as the package rapidocr-onnxruntime decodes it, but for rectangles that are turned.
class MapBoxes final : public AnswerStep {
 public:
  using Options = MapBoxesOptions;
  explicit MapBoxes(const Options& options) : options_(options) {}

  void run(ValueMap& values) const override {
    const Tensor map = value_for(values, options_.of, "map_boxes");
    const auto dims = map.shape().dims();
    const bool is_map = dims.size() == 2 || (dims.size() == 3 && dims[0] == 1);
    if (!is_map) {
      throw ShapeError(fmt::format("answer step map_boxes: gets {}, expected H x W or 1 x H x W",
                                   to_string(map.desc())));
    }
    const Map probabilities{detail::score_row(map, "map_boxes"), dims[dims.size() - 2],
                            dims.back()};
    std::vector<Found> found;
    for (const Region& region : regions_of(probabilities)) {
      if (std::min(region.right - region.left, region.bottom - region.top) < options_.least_side) {
        continue;
      }
      const double score = mean_in(region, probabilities);
      if (score >= options_.least_score) found.push_back({grown(region, probabilities), score});
    }
    std::ranges::stable_sort(found, std::greater<>(), &Found::score);
    std::vector<float> corners, scores;
    for (const Found& one : found) {
      corners.insert(corners.end(), one.corners.begin(), one.corners.end());
      scores.push_back(float(one.score));
    }
    values.erase(options_.of.empty() ? values.begin()->first : options_.of);
    values["boxes"] =
        Tensor::of<float>({std::int64_t(scores.size()), 4}, std::span<const float>(corners));
    values["scores"] = Tensor::vector(scores);
  }

 private:
  struct Map {
    std::vector<double> values;
    std::int64_t height = 0, width = 0;
    [[nodiscard]] double at(std::int64_t y, std::int64_t x) const {
      return values[std::size_t(y * width + x)];
    }
  };
  /// Its first and last pixels.
  struct Region {
    std::int64_t left = 0, top = 0, right = 0, bottom = 0;
  };
  struct Found {
    std::vector<float> corners;
    double score = 0;
  };

  [[nodiscard]] std::vector<char> mask_of(const Map& map) const {
    std::vector<char> mask(map.values.size());
    for (std::int64_t y = 0; y < map.height; ++y) {
      for (std::int64_t x = 0; x < map.width; ++x) {
        if (!(map.at(y, x) > options_.threshold)) continue;
        const std::int64_t reach = options_.dilate ? 1 : 0;
        for (std::int64_t down = y; down <= std::min(y + reach, map.height - 1); ++down) {
          for (std::int64_t right = x; right <= std::min(x + reach, map.width - 1); ++right) {
            mask[std::size_t(down * map.width + right)] = 1;
          }
        }
      }
    }
    return mask;
  }

  /// By flooding, in the order of their first pixels.
  [[nodiscard]] std::vector<Region> regions_of(const Map& map) const {
    std::vector<char> mask = mask_of(map);
    std::vector<Region> regions;
    std::vector<std::int64_t> waiting;
    for (std::size_t first = 0; first < mask.size(); ++first) {
      if (!mask[first]) continue;
      const auto start = std::int64_t(first);
      Region region{start % map.width, start / map.width, start % map.width, start / map.width};
      mask[first] = 0;
      waiting = {start};
      while (!waiting.empty()) {
        const std::int64_t x = waiting.back() % map.width, y = waiting.back() / map.width;
        waiting.pop_back();
        region = {std::min(region.left, x), std::min(region.top, y), std::max(region.right, x),
                  std::max(region.bottom, y)};
        for (std::int64_t near_y = std::max<std::int64_t>(y - 1, 0);
             near_y <= std::min(y + 1, map.height - 1); ++near_y) {
          for (std::int64_t near_x = std::max<std::int64_t>(x - 1, 0);
               near_x <= std::min(x + 1, map.width - 1); ++near_x) {
            char& there = mask[std::size_t(near_y * map.width + near_x)];
            if (there) waiting.push_back(near_y * map.width + near_x);
            there = 0;
          }
        }
      }
      regions.push_back(region);
    }
    return regions;
  }

  static double mean_in(const Region& region, const Map& map) {
    double sum = 0;
    for (std::int64_t y = region.top; y <= region.bottom; ++y) {
      for (std::int64_t x = region.left; x <= region.right; ++x) sum += map.at(y, x);
    }
    return sum / double((region.bottom - region.top + 1) * (region.right - region.left + 1));
  }

  [[nodiscard]] std::vector<float> grown(const Region& region, const Map& map) const {
    const auto width = double(region.right - region.left);
    const auto height = double(region.bottom - region.top);
    const double more = width * height * options_.growth / (2 * (width + height));
    const auto inside = [](double place, std::int64_t size) {
      return float(std::clamp(std::round(place), 0.0, double(size)));
    };
    return {inside(double(region.left) - more, map.width),
            inside(double(region.top) - more, map.height),
            inside(double(region.right) + more, map.width),
            inside(double(region.bottom) + more, map.height)};
  }

  Options options_;
};

}  // namespace

void register_map_boxes(Registry<AnswerStepEntry>& registry) {
  registry.add("map_boxes", AnswerStepEntry::of<MapBoxes>(
                                "boxes around the regions of a probability map: text (DBNet)"));
}

}  // namespace d5::answer_step
