// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/transformed_dataset.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "level2_training/data/image/resampler.hpp"
#include "tests/level2_training/encoded_images.hpp"

using namespace d5;
using testing::encoded_dataset;
using testing::gradient;

namespace {

std::vector<std::uint8_t> bytes_of(const Tensor& tensor) {
  const auto* from = static_cast<const std::uint8_t*>(tensor.raw());
  return {from, from + tensor.bytes()};
}

std::string checksum(const Tensor& tensor) {
  return detail::sha256({static_cast<const char*>(tensor.raw()), tensor.bytes()});
}

/// Field 0 of the samples, one after another.
Tensor read_images(const Dataset& data, std::vector<std::int64_t> indices, const Draw& draw = {}) {
  std::vector<Tensor> batch = empty_batch(data, std::int64_t(indices.size()));
  data.read(indices, draw, batch);
  return batch[0];
}

std::shared_ptr<TensorDataset> some_images(std::int64_t count = 12) {
  std::vector<std::string> contents;
  for (std::int64_t i = 0; i < count; ++i) {
    contents.push_back(encode_png(gradient(40 + 7 * i, 90 - 5 * i)));
  }
  return encoded_dataset(contents);
}

std::vector<EntryChoice> decode_then(EntryChoice next, bool region) {
  return {{"decode", {{"region", region}}}, std::move(next), {"flip"}, {"normalise"}};
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("resized photographs have the pixels that Pillow gives, to the bit") {
  const auto files = testing::photographs(4);
  if (files.empty()) WARN("skipped: needs D5_DATA_DIR with imagenet-sample");
  const auto sums = testing::pillow_checksums();
  for (const auto& [name, content] : files) {
    INFO(name);
    const TransformedDataset data(encoded_dataset({content}),
                                  {{"decode"}, {"resize", {{"height", 224}, {"width", 224}}}});
    CHECK(checksum(read_images(data, {0})) == sums.at(name).at(1));

    const Tensor image = decode_image(std::as_bytes(std::span(content)));
    const std::int64_t height = image.shape()[0], width = image.shape()[1];
    Tensor out = Tensor::empty(DType::uint8, {96, 160, 3});
    detail::Resampler().run(
        {.data = image.data<std::uint8_t>() + 3 * (height / 7 * width + width / 5),
         .height = height / 3,
         .width = width / 2,
         .channels = 3,
         .stride = 3 * width},
        {.height = double(height / 3), .width = double(width / 2)}, out.data<std::uint8_t>(),
        {96, 160});
    CHECK(checksum(out) == sums.at(name).at(2));
  }
}

TEST_CASE("what is decoded in part becomes the same pixels as what is decoded whole") {
  std::vector<std::string> contents;
  for (const auto& [name, content] : testing::photographs(9)) contents.push_back(content);
  if (contents.empty()) WARN("without photographs: needs D5_DATA_DIR with imagenet-sample");
  for (std::int64_t i = 0; i < 6; ++i) contents.push_back(encode_png(gradient(300, 260 + i)));
  const auto base = encoded_dataset(contents);
  for (const EntryChoice& step :
       {EntryChoice{"random_resized_crop", {{"size", 64}}}, EntryChoice{"crop", {{"size", 100}}},
        EntryChoice{"crop", {{"size", 300}, {"padding", 200}, {"fill", 9}}},
        EntryChoice{"centre_crop", {{"size", 120}}}, EntryChoice{"centre_crop", {{"size", 700}}},
        EntryChoice{"resize", {{"height", 50}, {"width", 70}}}}) {
    const TransformedDataset part(base, decode_then(step, true));
    const TransformedDataset whole(base, decode_then(step, false));
    for (std::int64_t i = 0; i < base->size(); ++i) {
      const Draw draw{.seed = 4, .epoch = i};
      INFO(step.name << " of image " << i);
      CHECK(bytes_of(read_images(part, {i}, draw)) == bytes_of(read_images(whole, {i}, draw)));
    }
  }
}

TEST_CASE("a JPEG decoded at an eighth stays near the whole one's pixels") {
  for (const auto& [name, content] : testing::photographs(10)) {
    INFO(name);
    const auto base = encoded_dataset({content});
    const EntryChoice resize{"resize", {{"height", 56}, {"width", 56}}};
    const TransformedDataset exact(base, {{"decode"}, resize});
    for (const bool region : {true, false}) {
      const TransformedDataset scaled(base,
                                      {{"decode", {{"scaled", true}, {"region", region}}}, resize});
      const auto a = bytes_of(read_images(exact, {0})), b = bytes_of(read_images(scaled, {0}));
      double sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(int(a[i]) - int(b[i]));
      // Both are low-pass filters of the same image: they differ at edges alone. A shift of half a
      // pixel gives three times as much.
      CHECK(sum / double(a.size()) < 3);
    }
  }
}

TEST_CASE("a sample depends on seed, epoch and index alone, not on its batch or thread") {
  const auto base = some_images();
  const TransformedDataset data(base, decode_then({"random_resized_crop", {{"size", 24}}}, true));
  CHECK(to_string(data.fields()[0].desc) == "float32 3x24x24");
  const Draw draw{.seed = 7, .epoch = 3};
  const std::vector<std::int64_t> indices{5, 0, 11, 5, 2};
  const Tensor together = read_images(data, indices, draw);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    CHECK(bytes_of(read_images(data, {indices[i]}, draw)) ==
          bytes_of(together.slice(std::int64_t(i), std::int64_t(i) + 1)));
  }
  CHECK(bytes_of(read_images(data, indices, {.seed = 7, .epoch = 4})) != bytes_of(together));
  CHECK(bytes_of(read_images(data, indices, {.seed = 8, .epoch = 3})) != bytes_of(together));
  std::vector<std::thread> threads;
  std::vector<Tensor> seen(4);
  for (Tensor& image : seen) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) image = read_images(data, indices, draw);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const Tensor& image : seen) CHECK(bytes_of(image) == bytes_of(together));
}

TEST_CASE("an image of open size is read one by one, into a tensor of its own shape") {
  const auto base = some_images();
  const TransformedDataset data(base, {{"decode"}, {"to_tensor"}});
  CHECK(to_string(data.fields()[0].desc) == "float32 3x?x?");
  CHECK(data.sample_shape(0, 2) == Shape{3, 54, 80});
  std::vector<Tensor> batch = empty_batch(data, 1);
  const std::int64_t index = 2;
  data.read(std::span(&index, 1), {}, batch);
  CHECK(batch[0].shape() == Shape{1, 3, 54, 80});
  CHECK(batch[1].item<std::int64_t>() == 2);
  CHECK_THROWS_AS(read_images(data, {0, 1}), ShapeError);
  CHECK(data.labels("label") == base->labels("label"));
  CHECK(data.description() == "encoded, then decode, to_tensor");
}

TEST_CASE("a broken sample is named, with the step that found it") {
  std::string broken = encode_png(gradient(20, 20));
  broken.resize(broken.size() / 2);
  const TransformedDataset data(encoded_dataset({encode_png(gradient(20, 20)), broken, "text"}),
                                {{"decode"}, {"crop", {{"size", 16}}}});
  CHECK_NOTHROW(read_images(data, {0}));
  for (const std::int64_t index : {1, 2}) {
    CHECK_THROWS_AS(read_images(data, {index}), FormatError);
    const std::string message = message_of([&] { read_images(data, {index}); });
    CHECK_THAT(message, Catch::StartsWith("dataset 'encoded', sample " + std::to_string(index)));
  }
  const TransformedDataset large(encoded_dataset({encode_png(gradient(20, 20))}),
                                 {{"decode"}, {"crop", {{"size", 21}}}});
  CHECK_THROWS_AS(read_images(large, {0}), ShapeError);
  const TransformedDataset capped(encoded_dataset({encode_png(gradient(20, 20))}),
                                  {{"decode", {{"most_pixels", 399}}}, {"centre_crop"}});
  CHECK_THROWS_AS(read_images(capped, {0}), Unsupported);
  CHECK_NOTHROW(read_images(data, {0}));  // after errors
}

TEST_CASE("a chain whose steps do not fit each other is refused before anything is read") {
  const auto base = some_images(1);
  const auto chain = [&](std::vector<EntryChoice> steps, const std::string& field = "image") {
    return TransformedDataset(base, std::move(steps), field);
  };
  CHECK_THROWS_AS(chain({{"flip"}}), TypeError);
  CHECK_THROWS_AS(chain({{"decode"}, {"decode"}}), TypeError);
  CHECK_THROWS_AS(chain({{"decode"}, {"normalise"}, {"resize", {{"size", 8}}}}), TypeError);
  CHECK_THROWS_AS(chain({{"decode"}, {"normalise", {{"mean", "1,2"}}}}), ValueError);
  CHECK_THROWS_AS(chain({{"decode"}, {"normalise", {{"mean", "1,2"}, {"deviation", "1,2"}}}}),
                  ShapeError);
  CHECK_THROWS_AS(chain({{"decode"}, {"resize"}}), ValueError);
  CHECK_THROWS_AS(chain({{"decode"}, {"random_resized_crop", {{"scale", "0.5"}}}}), ValueError);
  CHECK_THROWS_AS(chain({{"decode"}, {"pad", {{"padding", "1,2"}}}}), ValueError);
  CHECK_THROWS_AS(chain({{"decod"}}), NotFound);
  CHECK_THROWS_AS(chain({{"decode", {{"regions", true}}}}), NotFound);
  CHECK_THROWS_AS(chain({{"decode"}}, "picture"), NotFound);
  CHECK_THAT(message_of([&] { chain({{"decode"}, {"cast", {{"to", "int64"}}}, {"flip"}}); }),
             Catch::StartsWith("steps of 'encoded': step 2 (flip): "));
}

TEST_CASE("any data set takes steps among its settings, of its training and its test part") {
  const DatasetPair data = open_dataset("mnist", {{"subset", "sample"},
                                                  {"steps.0.name", "crop"},
                                                  {"steps.0.size", 28},
                                                  {"steps.0.padding", 4},
                                                  {"steps.1", "flip"},
                                                  {"test_steps", "flip"}});
  CHECK(to_string(data.train->fields()[0].desc) == "float32 1x28x28");
  CHECK_THAT(data.train->description(), Catch::EndsWith("then crop, flip"));
  CHECK_THAT(data.test->description(), Catch::EndsWith("then flip"));
  CHECK_THROWS_AS(open_dataset("mnist", {{"subset", "sample"}, {"steps", "flop"}}), NotFound);
  CHECK_THROWS_AS(open_dataset("mnist", {{"subset", "sample"}, {"step", "flip"}}), NotFound);
}

TEST_CASE("a recipe names steps, and trains with them") {
  const std::string text = R"(name: stepped
fixed:
  dataset:
    name: mnist
    subset: sample
    steps: [{name: crop, size: 28, padding: 2}, flip]
    test_steps: [{name: centre_crop, size: 28}]
  model: {name: lenet}
mutable:
  sampler: {name: shuffle, batch_size: 8}
  optimizer: {name: sgd, learning_rate: 0.01}
  training: {epochs: 1, most_batches: 2, seed: 1}
)";
  TrainingSession session(Recipe::parse(text, "stepped.yaml"));
  CHECK_THAT(session.data().train->description(), Catch::EndsWith("then crop, flip"));
  CHECK(session.data().train->fields()[0].desc.shape == Shape{1, 28, 28});
  for (const Measurement& result : session.run()) CHECK(result.status != Status::failed);

  Recipe smaller = Recipe::parse(text, "stepped.yaml");
  CHECK_THROWS_AS(smaller.set("dataset.steps.0.size=24"), ValueError);  // it is fixed
  const std::string wrong = std::string(text).replace(text.find("flip"), 4, "flop");
  CHECK_THROWS_AS(TrainingSession(Recipe::parse(wrong, "stepped.yaml")), NotFound);
  // Mixed labels are shares of classes, which this network does not take.
  const std::string mixed = std::string(text).replace(
      text.find("batch_size: 8"), 13, "batch_size: 8, batch_steps: [{name: mixup, classes: 10}]");
  TrainingSession with_shares(Recipe::parse(mixed, "stepped.yaml"));
  bool refused = false;
  for (const Measurement& result : with_shares.run()) refused |= result.status == Status::failed;
  CHECK(refused);
}
