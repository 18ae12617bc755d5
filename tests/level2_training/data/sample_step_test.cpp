// SPDX-License-Identifier: Apache-2.0
// Each step on an image that a person can check, and the laws of random steps.
#include "d5/level2_training/data/sample_step.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"
#include "level2_training/data/image/framing_step.hpp"

using namespace d5;

namespace {

/// One image through one step.
Tensor after(const Tensor& image, const EntryChoice& step, std::int64_t epoch = 0) {
  std::vector<std::int64_t> dims{1};
  dims.insert(dims.end(), image.shape().begin(), image.shape().end());
  const auto base = std::make_shared<TensorDataset>(
      "one", std::vector<std::pair<std::string, Tensor>>{{"image", image.reshaped(Shape(dims))}});
  const TransformedDataset data(base, {step});
  std::vector<Tensor> batch = empty_batch(data, 1);
  const std::int64_t index = 0;
  data.read(std::span(&index, 1), {.seed = 1, .epoch = epoch}, batch);
  return batch[0].reshaped(Shape(batch[0].shape().dims().subspan(1)));
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  const auto span = tensor.span<T>();
  return {span.begin(), span.end()};
}
using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

Tensor bytes(const Shape& shape, const Bytes& values) {
  return Tensor::of<std::uint8_t>(shape, std::span(values));
}
Tensor floats(const Shape& shape, const Floats& values) {
  return Tensor::of<float>(shape, std::span(values));
}

std::shared_ptr<const detail::FramingStep> framing(const EntryChoice& step) {
  return std::dynamic_pointer_cast<const detail::FramingStep>(
      sample_steps().at(step.name).make(step.settings));
}

/// Pearson's statistic of numbers in [0, 1] that ought to be uniform, over `kBins` bins. With a
/// fair source it is above 40 once in 10^5 (19 degrees of freedom: mean 19, deviation 6.2).
constexpr std::size_t kBins = 20;
constexpr double kMostSurprise = 50;
double surprise(const std::vector<double>& numbers) {
  std::vector<double> counts(kBins, 0);
  for (const double number : numbers) {
    REQUIRE(number >= -1e-9);
    REQUIRE(number <= 1 + 1e-9);
    ++counts[std::min(kBins - 1, std::size_t(std::max(0.0, number) * kBins))];
  }
  const double expected = double(numbers.size()) / kBins;
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

constexpr int kDraws = 4000;

}  // namespace

TEST_CASE("greyscale is Pillow's, and one channel stays as it is") {
  // Image.new("RGB", ...).convert("L") of Pillow 13.0.0
  const Bytes rgb{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 1, 2, 3, 200, 100, 50};
  const Tensor grey = after(bytes({2, 3, 3}, rgb), {"greyscale"});
  CHECK(grey.shape() == Shape({2, 3, 1}));
  CHECK(values<std::uint8_t>(grey) == Bytes{76, 150, 29, 255, 2, 124});
  CHECK(values<std::uint8_t>(after(grey, {"greyscale"})) == values<std::uint8_t>(grey));
  const Tensor real = after(floats({3, 1, 2}, {1, 0, 1, 0, 1, 10}), {"greyscale"});
  CHECK(real.shape() == Shape({1, 1, 2}));
  CHECK(real.data<float>()[0] == Approx(1));
  CHECK(real.data<float>()[1] == Approx(1.14));
  CHECK_THROWS_AS(after(bytes({1, 1, 4}, {1, 2, 3, 4}), {"greyscale"}), ShapeError);
}

TEST_CASE("an image is mirrored in both layouts, along both axes") {
  const Tensor pixels = bytes({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(values<std::uint8_t>(after(pixels, {"flip", {{"probability", 1}}})) ==
        Bytes{4, 5, 6, 1, 2, 3, 10, 11, 12, 7, 8, 9});
  CHECK(values<std::uint8_t>(after(pixels, {"flip", {{"probability", 1}, {"axis", "vertical"}}})) ==
        Bytes{7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6});
  const Tensor planes = floats({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(values<float>(after(planes, {"flip", {{"probability", 1}}})) == Floats{3, 2, 1, 6, 5, 4});
  CHECK(values<float>(after(planes, {"flip", {{"probability", 0}}})) == Floats{1, 2, 3, 4, 5, 6});
  const Tensor grey = bytes({1, 3, 1}, {1, 2, 3}), two = bytes({1, 2, 2}, {1, 2, 3, 4});
  CHECK(values<std::uint8_t>(after(grey, {"flip", {{"probability", 1}}})) == Bytes{3, 2, 1});
  CHECK(values<std::uint8_t>(after(two, {"flip", {{"probability", 1}}})) == Bytes{3, 4, 1, 2});
}

TEST_CASE("a border is put around an image, in both layouts") {
  CHECK(values<std::uint8_t>(
            after(bytes({1, 1, 2}, {5, 6}), {"pad", {{"padding", "1,0,0,1"}, {"fill", 9}}})) ==
        Bytes{9, 9, 5, 6, 9, 9, 9, 9});
  CHECK(values<float>(after(floats({2, 1, 1}, {5, 6}), {"pad", {{"padding", 1}, {"fill", 0.5}}})) ==
        Floats{.5, .5, .5, .5, 5, .5, .5, .5, .5, .5, .5, .5, .5, 6, .5, .5, .5, .5});
}

TEST_CASE("the middle of an image is cut out, and a small image gets a border") {
  const Tensor image = bytes({3, 4, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(values<std::uint8_t>(after(image, {"centre_crop", {{"size", 2}}})) == Bytes{1, 2, 5, 6});
  CHECK(values<std::uint8_t>(after(bytes({1, 1, 1}, {7}), {"centre_crop", {{"size", 2}}})) ==
        Bytes{7, 0, 0, 0});
  const auto step = framing({"centre_crop", {{"size", 4}}});
  RandomStream random(1);
  CHECK(step->frame({5, 7}, random).top == 0);   // 0.5 to the even place
  CHECK(step->frame({5, 7}, random).left == 2);  // 1.5
}

TEST_CASE("resizing to a side keeps the shape, and a flat image stays flat") {
  const Tensor flat = Tensor::of<std::uint8_t>({5, 9, 3}, std::vector<std::uint8_t>(135, 201));
  const Tensor small = after(flat, {"resize", {{"size", 3}}});
  CHECK(small.shape() == Shape{3, 5, 3});
  for (const int value : small.span<std::uint8_t>()) CHECK(value == 201);
  CHECK(values<std::uint8_t>(after(bytes({1, 2, 1}, {10, 30}),
                                   {"resize", {{"height", 1}, {"width", 1}}})) == Bytes{20});
  CHECK(values<std::uint8_t>(
            after(bytes({1, 2, 1}, {0, 100}), {"resize", {{"height", 1}, {"width", 4}}})) ==
        Bytes{0, 25, 75, 100});
}

TEST_CASE("bytes become numbers around 0, channels first") {
  const Tensor image = bytes({1, 2, 3}, {0, 51, 255, 255, 102, 0});
  CHECK(values<float>(after(image, {"to_tensor"})) == Floats{0, 1, .2F, .4F, 1, 0});
  CHECK(values<float>(after(image, {"normalise", {{"mean", 0.5}, {"deviation", 0.25}}})) ==
        Floats{-2, 2, float((.2 - .5) / .25), float((.4 - .5) / .25), 2, -2});
  CHECK(values<float>(after(floats({2, 1, 1}, {3, 4}),
                            {"normalise", {{"mean", "1,2"}, {"deviation", "2,4"}}})) ==
        Floats{1, .5});
}

TEST_CASE("a cast cuts off, and stays in the type") {
  const Tensor numbers = floats({5}, {-1, 2.75, 256, NAN, 255});
  CHECK(values<std::uint8_t>(after(numbers, {"cast", {{"to", "uint8"}}})) ==
        Bytes{0, 2, 255, 0, 255});
  CHECK(after(bytes({2}, {1, 255}), {"cast", {{"to", "float16"}}}).span<Float16>()[1].bits ==
        0x5bf8);
  CHECK(values<std::int64_t>(after(bytes({2}, {1, 255}), {"cast", {{"to", "int64"}}})) ==
        std::vector<std::int64_t>{1, 255});
}

TEST_CASE("colours change as their definitions say") {
  const Tensor colours = bytes({1, 3, 3}, {255, 0, 0, 100, 100, 100, 200, 100, 0});
  const auto jitter = [&](const char* what, const char* range) {
    return values<std::uint8_t>(after(colours, {"colour_jitter", {{what, range}}}));
  };
  CHECK(jitter("brightness", "0.5,0.5") == Bytes{127, 0, 0, 50, 50, 50, 100, 50, 0});
  CHECK(jitter("brightness", "2,2") == Bytes{255, 0, 0, 200, 200, 200, 255, 200, 0});
  // Red has the luma 76, orange 118: all become the mean, 97.7, with the contrast taken away.
  CHECK(jitter("contrast", "0,0") == Bytes(9, 97));
  CHECK(jitter("saturation", "0,0") == Bytes{76, 76, 76, 99, 99, 99, 118, 118, 118});
  const Bytes turned = jitter("hue", "0.3333333333,0.3333333333");  // red to green, green to blue
  CHECK(Bytes(turned.begin(), turned.begin() + 3) == Bytes{0, 255, 0});
  CHECK(Bytes(turned.begin() + 3, turned.begin() + 6) == Bytes{100, 100, 100});
  for (const auto& [place, value] : {std::pair(6, 0), {7, 200}, {8, 100}}) {
    CHECK(std::abs(int(turned[std::size_t(place)]) - value) <= 1);  // rounded on the way
  }
  CHECK(jitter("hue", "0,0") == values<std::uint8_t>(colours));
}

TEST_CASE("a flip comes with its probability") {
  const Tensor image = bytes({1, 2, 1}, {1, 2});
  int flips = 0;
  for (int i = 0; i < kDraws; ++i) {
    flips += after(image, {"flip", {{"probability", 0.3}}}, i).data<std::uint8_t>()[0] == 2 ? 1 : 0;
  }
  // Binomial: mean 1200, deviation 29.
  CHECK(std::abs(flips - 0.3 * kDraws) < 5 * std::sqrt(kDraws * 0.3 * 0.7));
}

TEST_CASE("a padded crop may lie at every place, each as likely") {
  const auto step = framing({"crop", {{"size", 32}, {"padding", 4}}});
  RandomStream random(3);
  std::vector<int> counts(81, 0);
  constexpr int kCrops = 16'200;
  for (int i = 0; i < kCrops; ++i) {
    const detail::Frame frame = step->frame({32, 32}, random);
    REQUIRE((frame.top >= -4 && frame.top <= 4 && frame.left >= -4 && frame.left <= 4));
    ++counts[std::size_t((frame.top + 4) * 9 + frame.left + 4)];
  }
  double sum = 0;
  for (const int count : counts) sum += (count - 200.0) * (count - 200.0) / 200;
  CHECK(sum < 80 + 6 * std::sqrt(160));  // chi-square of 80 degrees: mean 80, variance 160
}

TEST_CASE("a random resized crop has a uniform area, logarithm of its shape, and place") {
  const auto step = framing(
      {"random_resized_crop", {{"size", 8}, {"scale", "0.1,0.5"}, {"ratio", "0.75,1.3333333333"}}});
  RandomStream random(5);
  std::vector<double> areas, shapes, tops, lefts;
  constexpr double kSide = 20'000;  // a large image: rounding to pixels plays no part
  for (int i = 0; i < kDraws; ++i) {
    const detail::Frame frame = step->frame({std::int64_t(kSide), std::int64_t(kSide)}, random);
    CHECK(frame.size == ImageSize{8, 8});
    areas.push_back((double(frame.height) * double(frame.width) / (kSide * kSide) - 0.1) / 0.4);
    shapes.push_back(0.5 +
                     std::log(double(frame.width) / double(frame.height)) / 2 / std::log(4.0 / 3));
    tops.push_back(double(frame.top) / (kSide - double(frame.height)));
    lefts.push_back(double(frame.left) / (kSide - double(frame.width)));
  }
  for (auto* numbers : {&areas, &shapes, &tops, &lefts}) {
    for (double& number : *numbers) number = std::clamp(number, 0.0, 1.0);  // removes rounding
    CHECK(surprise(*numbers) < kMostSurprise);
  }
}

TEST_CASE("the largest crop of an allowed shape in the middle is taken if no random one fits") {
  const auto step = framing({"random_resized_crop", {{"size", 8}, {"scale", "1,1"}}});
  RandomStream random(1);
  const detail::Frame wide = step->frame({30, 100}, random);
  CHECK((wide.height == 30 && wide.width == 40 && wide.top == 0 && wide.left == 30));
  const detail::Frame high = step->frame({100, 30}, random);
  CHECK((high.height == 40 && high.width == 30 && high.top == 30 && high.left == 0));
}

TEST_CASE("cutout makes holes around any pixel") {
  constexpr std::int64_t kSide = 16, kLength = 6;
  const Tensor image =
      Tensor::of<std::uint8_t>({kSide, kSide, 1}, std::vector<std::uint8_t>(256, 1));
  double holes = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Tensor cut = after(image, {"cutout", {{"length", kLength}}}, i);
    for (const int value : cut.span<std::uint8_t>()) holes += value == 0 ? 1 : 0;
  }
  // Middles 0, 1, 2 and 14, 15 lose 3, 2, 1 and 1, 2 pixels of a side of 6.
  const double side = kLength - 9.0 / kSide;
  CHECK(holes / kDraws == Approx(side * side).epsilon(0.02));
}

TEST_CASE("random erasing takes a uniform share of the area, as often as it should") {
  constexpr std::int64_t kSide = 256;
  const Tensor image = Tensor::of<std::uint8_t>(
      {kSide, kSide, 1}, std::vector<std::uint8_t>(std::size_t(kSide * kSide), 1));
  const EntryChoice step{"random_erasing",
                         {{"probability", 0.5}, {"scale", "0.1,0.3"}, {"ratio", "0.5,2"}}};
  std::vector<double> shares;
  for (int i = 0; i < kDraws; ++i) {
    const Tensor erased = after(image, step, i);
    const auto values = erased.span<std::uint8_t>();
    const double left = std::accumulate(values.begin(), values.end(), 0.0);
    if (left < kSide * kSide) {
      shares.push_back(std::clamp(((1 - left / (kSide * kSide)) - 0.1) / 0.2, 0.0, 1.0));
    }
  }
  CHECK(std::abs(double(shares.size()) - kDraws / 2) < 5 * std::sqrt(kDraws * 0.25));
  CHECK(surprise(shares) < kMostSurprise);
}

TEST_CASE("colour jitter draws its factor uniformly") {
  const Tensor grey = Tensor::of<std::uint8_t>({1, 1, 3}, {100, 100, 100});
  std::vector<double> factors;
  for (int i = 0; i < kDraws; ++i) {
    const Tensor changed = after(grey, {"colour_jitter", {{"brightness", 1}}}, i);
    factors.push_back((changed.data<std::uint8_t>()[0] + 0.5) / 200);  // 0 to 199, cut off
  }
  CHECK(surprise(factors) < kMostSurprise);
}
