// SPDX-License-Identifier: Apache-2.0
// 128 photographs of $D5_DATA_DIR/imagenet-sample, in memory, on one thread: decoding, compared
// with libjpeg-turbo; and preparation for training (a random part, resized to 224 x 224, flipped,
// normalised).
#include <fmt/format.h>

#include <cstdio>
// After <cstdio>, because it uses FILE.
#include <jpeglib.h>

#include <memory>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"
#include "tests/level2_training/encoded_images.hpp"

namespace {

using namespace d5;
constexpr std::size_t kImages = 128;

const std::vector<std::string>& contents() {
  static const std::vector<std::string> files = [] {
    std::vector<std::string> all;
    for (auto& [name, content] : testing::photographs()) {
      if (all.size() < kImages) all.push_back(std::move(content));
    }
    return all;
  }();
  return files;
}

/// The same with only the library.
Subject libjpeg_turbo() {
  auto pixels = std::make_shared<std::vector<JSAMPLE>>();
  return {.run = [pixels] {
    for (const std::string& content : contents()) {
      jpeg_decompress_struct jpeg{};
      jpeg_error_mgr errors{};
      jpeg.err = jpeg_std_error(&errors);
      jpeg_create_decompress(&jpeg);
      jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(content.data()),
                   static_cast<unsigned long>(content.size()));
      jpeg_read_header(&jpeg, TRUE);
      jpeg.out_color_space = JCS_RGB;
      jpeg_start_decompress(&jpeg);
      const std::size_t row = std::size_t(jpeg.output_width) * 3;
      pixels->resize(row * jpeg.output_height);
      while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW to = pixels->data() + jpeg.output_scanline * row;
        jpeg_read_scanlines(&jpeg, &to, 1);
      }
      jpeg_finish_decompress(&jpeg);
      jpeg_destroy_decompress(&jpeg);
    }
  }};
}

Subject decoding() {
  struct State {
    ImageDecoder decoder;
    std::vector<std::uint8_t> pixels;
  };
  auto state = std::make_shared<State>();
  return {.run = [state] {
    for (const std::string& content : contents()) {
      const auto [height, width] = state->decoder.open(std::as_bytes(std::span(content)));
      state->pixels.resize(std::size_t(3 * height * width));
      state->decoder.read({.height = height, .width = width}, state->pixels);
    }
  }};
}

/// Runs an epoch, with other crops than the last one.
Subject epoch_of(const std::vector<EntryChoice>& steps) {
  struct State {
    std::shared_ptr<Sampler> sampler;
    std::int64_t epoch = 0;
  };
  const auto data =
      std::make_shared<TransformedDataset>(testing::encoded_dataset(contents()), steps);
  auto state = std::make_shared<State>();
  state->sampler = samplers().at("ordered").make(data, {{"batch_size", std::int64_t(kImages)}});
  return {.run = [state] {
    state->sampler->reset(++state->epoch);
    while (state->sampler->next()) {
    }
  }};
}

Subject training(const Settings& decode) {
  return epoch_of(
      {{"decode", decode}, {"random_resized_crop", {{"size", 224}}}, {"flip"}, {"normalise"}});
}

}  // namespace

int main(int argc, char** argv) {
  if (contents().size() < kImages) {
    fmt::print(stderr, "bench_images: needs D5_DATA_DIR with imagenet-sample\n");
    return 1;
  }
  d5::set_threads(1);
  d5::benchmarks::add("decode", {{"libjpeg-turbo", libjpeg_turbo}, {"d5", decoding}});
  d5::benchmarks::add("training", {{"whole", [] { return training({{"region", false}}); }},
                                   {"region", [] { return training({}); }},
                                   {"scaled", [] { return training({{"scaled", true}}); }}});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
