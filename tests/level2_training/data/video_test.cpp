// SPDX-License-Identifier: Apache-2.0
// UCF101's lists, and clips of videos: folders of pictures, and AVI files without loss made here.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr int kHeight = 6, kWidth = 8;

/// Picture `place` of video `video`: red tells the place, green the video, blue the column.
Tensor picture(int video, int place, int height = kHeight, int width = kWidth) {
  Tensor image = Tensor::empty(DType::uint8, {height, width, 3});
  std::uint8_t* to = image.data<std::uint8_t>();
  for (int i = 0; i < height * width; ++i) {
    *to++ = std::uint8_t(10 * place);
    *to++ = std::uint8_t(50 * video);
    *to++ = std::uint8_t(i % width);
  }
  return image;
}

std::string little(std::uint32_t value, int bytes = 4) {
  std::string text;
  for (; bytes > 0; --bytes, value >>= 8) text += char(value & 0xff);
  return text;
}
std::string chunk(const std::string& name, const std::string& data) {
  return name + little(std::uint32_t(data.size())) + data + std::string(data.size() % 2, '\0');
}

/// An AVI file of bitmaps as they are. Source: Microsoft, "AVI RIFF File Reference".
std::string avi(int video, int pictures) {
  const std::uint32_t size = 3 * kHeight * kWidth;
  const std::string bitmap = little(40) + little(kWidth) + little(kHeight) + little(1, 2) +
                             little(24, 2) + little(0) + little(size) + std::string(16, '\0');
  const std::string stream = std::string("vids") + "DIB " + std::string(12, '\0') + little(1) +
                             little(25) + little(0) + little(std::uint32_t(pictures)) +
                             little(size) + little(0) + little(size) + std::string(8, '\0');
  const std::string main = little(40000) + little(0) + little(0) + little(0) +
                           little(std::uint32_t(pictures)) + little(0) + little(1) + little(size) +
                           little(kWidth) + little(kHeight) + std::string(16, '\0');
  const std::string head = "hdrl" + chunk("avih", main) +
                           chunk("LIST", "strl" + chunk("strh", stream) + chunk("strf", bitmap));
  std::string movie = "movi";
  for (int place = 0; place < pictures; ++place) {
    const Tensor image = picture(video, place);
    const auto* pixels = image.data<std::uint8_t>();
    std::string rows;  // from below, blue first
    for (int y = kHeight - 1; y >= 0; --y) {
      for (int x = 0; x < kWidth; ++x) {
        for (int c = 2; c >= 0; --c) rows += char(pixels[3 * (y * kWidth + x) + c]);
      }
    }
    movie += chunk("00db", rows);
  }
  return chunk("RIFF", "AVI " + chunk("LIST", head) + chunk("LIST", movie));
}

/// Two classes, three training videos of 9, 9 and 3 pictures and one test video of 12.
struct Videos : testing::TemporaryFolder {
  Videos() {
    put("ucfTrainTestlist/classInd.txt", "1 Archery\r\n2 BabyCrawling\r\n");
    put("ucfTrainTestlist/trainlist01.txt",
        "Archery/v_a.avi 1\r\nBabyCrawling/v_b.avi 2\r\nArchery/v_c.avi 1\r\n");
    put("ucfTrainTestlist/testlist01.txt", "BabyCrawling/v_d.avi\n");
    add("Archery/v_a", 1, 9);
    add("BabyCrawling/v_b", 2, 9);
    add("Archery/v_c", 3, 3);
    add("BabyCrawling/v_d", 4, 12);
  }
  void put(const std::string& name, const std::string& content) const {
    const std::string path = *this / name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  void add(const std::string& name, int video, int pictures) const {
    for (int place = 0; place < pictures; ++place) {
      put("UCF-101/" + name + "/" + std::to_string(1000 + place) + ".png",
          encode_png(picture(video, place)));
    }
  }
  [[nodiscard]] DatasetPair open(Settings settings = {}) const {
    settings.set("data", path().string());
    return open_dataset("ucf-101", settings);
  }
};

/// The frames of sample `index`, identified by their red; everything else is compared.
std::vector<int> places_of(const Dataset& data, std::int64_t index, int video, Draw draw = {}) {
  std::vector<Tensor> sample = empty_batch(data, 1);
  data.read(std::span(&index, 1), draw, sample);
  std::vector<int> places;
  const auto dims = sample[0].shape().dims();
  REQUIRE(dims.size() == 5);
  const std::uint8_t* pixels = sample[0].data<std::uint8_t>();
  for (std::int64_t t = 0; t < dims[1]; ++t) {
    places.push_back(pixels[0] / 10);
    const Tensor expected = picture(video, places.back());
    REQUIRE(dims[2] * dims[3] * 3 == std::int64_t(expected.bytes()));
    if (!std::ranges::equal(expected.span<std::uint8_t>(), std::span(pixels, expected.bytes()))) {
      FAIL("picture " << t << " differs");
    }
    pixels += expected.bytes();
  }
  return places;
}

using Places = std::vector<int>;

}  // namespace

TEST_CASE("UCF101's lists tell videos and classes, of each split") {
  const Videos videos;
  const DatasetPair pair = videos.open();
  CHECK(pair.train->labels("label") == std::vector<std::int64_t>{0, 1, 0});
  CHECK(pair.test->labels("label") == std::vector<std::int64_t>{1});
  CHECK(pair.train->sample_name(1) == "BabyCrawling/v_b.avi");
  CHECK(to_string(pair.train->fields()[0].desc) == "uint8 16x?x?x3");
  CHECK_THROWS_WITH(videos.open({{"split", 2}}), Contains("trainlist02.txt"));
  videos.put("lists/classInd.txt", "1 Archery\n2 BabyCrawling\n");
  videos.put("lists/trainlist02.txt", "Archery/v_c.avi 1\n");
  videos.put("lists/testlist02.txt", "Archery/v_a.avi\n");
  CHECK(videos.open({{"split", 2}, {"lists", videos / "lists"}}).train->size() == 1);
}

TEST_CASE("a clip in the middle has pictures at its stride, and a short video's last one again") {
  const Videos videos;
  const Settings settings{{"frames", 3}, {"stride", 2}, {"start", "middle"}};
  const DatasetPair pair = videos.open(settings);
  CHECK(places_of(*pair.train, 0, 1) == Places{2, 4, 6});  // 5 of 9 pictures, 2 before
  CHECK(places_of(*pair.train, 2, 3) == Places{0, 2, 2});  // a clip of 3 pictures
  CHECK(places_of(*pair.test, 0, 4) == Places{3, 5, 7});   // 5 of 12, 3 before
}

TEST_CASE("a training clip begins anywhere, by its draw alone") {
  const Videos videos;
  const auto train = videos.open({{"frames", 3}, {"stride", 2}}).train;
  std::map<int, int> starts;
  for (std::int64_t epoch = 0; epoch < 400; ++epoch) {
    const Places places = places_of(*train, 1, 2, {.seed = 5, .epoch = epoch});
    REQUIRE(places == Places{places[0], places[0] + 2, places[0] + 4});
    ++starts[places[0]];
  }
  REQUIRE(starts.size() == 5);
  // 80 of 400 draws each: 5 deviations of the binomial distribution are 40.
  for (const auto& [start, count] : starts) CHECK(std::abs(count - 80) < 40);
  CHECK(places_of(*train, 1, 2, {.epoch = 7}) == places_of(*train, 1, 2, {.epoch = 7}));
}

TEST_CASE("clips of one size are read together, resized where they have another") {
  const Videos videos;
  const auto train = videos.open({{"frames", 2}, {"height", 3}, {"width", 4}}).train;
  CHECK(to_string(train->fields()[0].desc) == "uint8 2x3x4x3");
  const auto sampler = samplers().at("ordered").make(train, {{"batch_size", 3}});
  const Batch* const batch = sampler->next();
  REQUIRE(batch);
  const Tensor& clips = batch->values.at("clip").tensor();
  CHECK(clips.shape() == Shape{3, 2, 3, 4, 3});
  for (int video = 1; video <= 3; ++video) {
    const auto clip = clips.slice(video - 1, video).span<std::uint8_t>();
    for (std::size_t i = 1; i < clip.size(); i += 3)
      CHECK(clip[i] == 50 * video);  // flat stays flat
  }
  CHECK_THROWS_AS(videos.open({{"height", 3}}), ValueError);
  videos.put("UCF-101/Archery/v_a/1001.png", encode_png(picture(1, 1, 2, 2)));
  const auto open = videos.open({{"frames", 9}}).train;
  CHECK_THROWS_WITH(places_of(*open, 0, 1), Contains("give height and width"));
}

TEST_CASE("lists that do not fit are refused with their line") {
  const Videos videos;
  const auto refused = [&](const std::string& list, const std::string& content) {
    videos.put("ucfTrainTestlist/" + list, content);
    CAPTURE(list, content);
    CHECK_THROWS_AS(videos.open(), FormatError);
    CHECK_THROWS_WITH(videos.open(), Contains(list + ":"));
  };
  const std::string good = "Archery/v_a.avi 1\n";
  for (const std::string line : {"Archery/v_a.avi 2", "Archery/v_a.avi 0", "Archery/v_a.avi one",
                                 "Surfing/v_a.avi 1", "../Archery/v_a.avi 1", "/etc/passwd 1"}) {
    refused("trainlist01.txt", good + line + "\n");
  }
  videos.put("ucfTrainTestlist/trainlist01.txt", good);
  for (const std::string line : {"Archery", "0 Archery", "3 Archery\n3 Archery", "x Archery"}) {
    refused("classInd.txt", line + "\n");
  }
  fs::remove_all(videos / "ucfTrainTestlist");
  CHECK_THROWS_WITH(videos.open(), Contains("lists=DIR"));
}

TEST_CASE("a video that is missing or broken is named when it is drawn") {
  const Videos videos;
  fs::remove_all(videos / "UCF-101/Archery/v_a");
  const auto train = videos.open().train;
  CHECK_THROWS_WITH(places_of(*train, 0, 1), Contains("v_a.avi") && Contains("folder"));
  CHECK_THROWS_AS(places_of(*train, 0, 1), IoError);
  videos.put("UCF-101/BabyCrawling/v_b/1003.png", "no picture");
  CHECK_THROWS_WITH(places_of(*train, 1, 2), Contains("1003.png"));
}

TEST_CASE("an AVI file gives the same clips as the folder of its pictures, or says what it needs") {
  const Videos videos;
  const Settings settings{{"frames", 3}, {"stride", 2}, {"start", "middle"}};
  fs::remove_all(videos / "UCF-101/Archery/v_a");
  videos.put("UCF-101/Archery/v_a.avi", avi(1, 9));
  const auto train = videos.open(settings).train;
  try {
    const Places places = places_of(*train, 0, 1);
    CHECK(places == Places{2, 4, 6});
  } catch (const Unsupported& error) {
    CHECK_THAT(error.what(), Contains("without libav") && Contains("ffmpeg -i"));
    WARN("skipped: this d5 was built without libav");
    return;
  }
  const auto whole = videos.open({{"frames", 12}, {"start", "middle"}}).train;
  CHECK(places_of(*whole, 0, 1) == Places{0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8});
  const std::string bytes = avi(1, 9);
  for (const std::size_t length : {std::size_t(0), std::size_t(100), bytes.size() / 2}) {
    CAPTURE(length);
    videos.put("UCF-101/Archery/v_a.avi", bytes.substr(0, length));
    try {  // what is left of it, or a refusal
      const Places places = places_of(*train, 0, 1);
      CHECK(std::set<int>(places.begin(), places.end()).size() >= 1);
    } catch (const FormatError& error) {
      CHECK_THAT(error.what(), Contains("v_a.avi"));
    }
  }
  videos.put("UCF-101/Archery/v_a.avi", "#EXTM3U\n#EXTINF:1,\n/etc/passwd\n");
  CHECK_THROWS_AS(places_of(*train, 0, 1), FormatError);
}
