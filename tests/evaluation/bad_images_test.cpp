// SPDX-License-Identifier: Apache-2.0
// Files that are no image, end early, or declare too large a size, on their way into a network.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/image/image.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"

namespace d5 {
namespace {

/// ISO 3309's, as a PNG's chunks end with.
std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    crc ^= std::uint8_t(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

void put_number(std::string& bytes, std::size_t at, std::uint32_t number) {
  for (int i = 0; i < 4; ++i) bytes[at + std::size_t(i)] = char(number >> (24 - 8 * i));
}

/// A PNG image whose header says 60,000 x 60,000: 10.8 GB of pixels.
std::string vast(std::string png) {
  constexpr std::size_t kType = 12, kWidth = 16, kCrc = 29;
  put_number(png, kWidth, 60'000);
  put_number(png, kWidth + 4, 60'000);
  put_number(png, kCrc, crc_of(png.substr(kType, kCrc - kType)));
  return png;
}

class EncodedImages final : public Dataset {
 public:
  explicit EncodedImages(std::vector<std::string> images) : images_(std::move(images)) {}
  [[nodiscard]] std::string name() const override { return "encoded"; }
  [[nodiscard]] std::int64_t size() const override { return std::int64_t(images_.size()); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      batch[0].data<std::string>()[i] = images_[std::size_t(indices[i])];
    }
  }

 private:
  std::vector<std::string> images_;
  std::vector<Field> fields_{{.name = "image", .desc = {DType::string, Shape{}}}};
};

TEST_CASE("an image that cannot be is no answer, with its step and reason, and ends nothing") {
  Tensor pixels = Tensor::zeros(DType::uint8, {40, 30, 3});
  const std::string png = encode_png(pixels);
  const auto images = std::make_shared<EncodedImages>(std::vector<std::string>{
      png, "", "no picture", png.substr(0, png.size() / 2), vast(png), png});
  const ModelPipeline way(images,
                          {{.name = "x",
                            .field = "image",
                            .steps = {{"decode"}, {"centre_crop", {{"size", 8}}}, {"to_tensor"}}}},
                          {});
  Pipeline pipeline(way.stages_before(2), [](std::span<PipelineItem*>) {}, {}, {.batch = 2});
  std::vector<std::string> faults;
  (void)pipeline.run(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5},
                     [&](PipelineItem& item) { faults.push_back(item.fault); });
  REQUIRE(faults.size() == 6);
  CHECK(faults[0] == "");
  CHECK(faults[5] == "");
  for (int i = 1; i <= 4; ++i) {
    INFO(i << ": " << faults[std::size_t(i)]);
    CHECK_THAT(faults[std::size_t(i)], Catch::Contains("decode"));
  }
  CHECK_THAT(faults[4], Catch::Contains("60000"));
}

}  // namespace
}  // namespace d5
