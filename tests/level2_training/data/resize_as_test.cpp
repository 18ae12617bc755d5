// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"

namespace d5 {
namespace {

/// The image of resized_pixels.py.
Tensor judged_image() {
  Tensor image = Tensor::empty(DType::uint8, {1, 13, 17, 3});
  auto* pixel = image.data<std::uint8_t>();
  for (int y = 0; y < 13; ++y) {
    for (int x = 0; x < 17; ++x) {
      for (int c = 0; c < 3; ++c) {
        *pixel++ = std::uint8_t(3 * x * x + 7 * y * y + x * y + 40 * c);
      }
    }
  }
  return image;
}

Tensor resized(const Settings& settings) {
  const auto base = std::make_shared<TensorDataset>(
      "image", std::vector<std::pair<std::string, Tensor>>{{"image", judged_image()}});
  const TransformedDataset steps(base, {{"resize_as", settings}});
  std::vector<Tensor> batch = empty_batch(steps, 1);
  const std::int64_t first = 0;
  steps.read({&first, 1}, {}, batch);
  return batch[0];
}

TEST_CASE("pixels are those of Pillow, OpenCV and TensorFlow, within one") {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "resized_pixels.txt");
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string library, kernel, hex;
    std::int64_t height = 0, width = 0;
    words >> library >> kernel >> height >> width >> hex;
    const Tensor got =
        resized({{"library", library}, {"kernel", kernel}, {"height", height}, {"width", width}});
    REQUIRE(std::size_t(got.elements()) * 2 == hex.size());
    int most = 0;
    for (std::int64_t i = 0; i < got.elements(); ++i) {
      const int expected = std::stoi(hex.substr(std::size_t(i) * 2, 2), nullptr, 16);
      most = std::max(most, std::abs(expected - int(got.data<std::uint8_t>()[i])));
    }
    INFO(library << " " << kernel << " " << height << "x" << width);
    CHECK(most <= (kernel == "nearest" ? 0 : 1));  // their arithmetic is of 8 to 32 bits
    ++cases;
  }
  CHECK(cases >= 40);
}

TEST_CASE("the shorter side is given, the longer one follows, cut or rounded") {
  CHECK(resized({{"size", 8}}).shape() == Shape({1, 8, 10, 3}));  // 8 * 17 / 13 = 10.46
  CHECK(resized({{"size", 7}, {"sides", "nearest"}}).shape() == Shape({1, 7, 9, 3}));
  CHECK(resized({{"size", 8}, {"sides", "cut"}}).shape() == Shape({1, 8, 10, 3}));
}

TEST_CASE("what no library does is refused") {
  CHECK_THROWS_AS(resized({{"height", 3}}), ValueError);
  CHECK_THROWS_AS(resized({{"size", 3}, {"kernel", "area"}}), ValueError);
  CHECK_THROWS_AS(
      resized({{"height", 20}, {"width", 20}, {"kernel", "area"}, {"library", "opencv"}}), Error);
}

}  // namespace
}  // namespace d5
