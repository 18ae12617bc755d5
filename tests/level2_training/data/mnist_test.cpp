// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;

std::string big_endian(std::uint32_t value) {
  return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

std::string images(std::uint32_t count, std::uint32_t rows = 28, std::uint32_t columns = 28) {
  return big_endian(0x803) + big_endian(count) + big_endian(rows) + big_endian(columns) +
         std::string(std::size_t(count) * rows * columns, '\x33');
}

std::string labels(std::uint32_t count, char label = 7) {
  return big_endian(0x801) + big_endian(count) + std::string(count, label);
}

std::string packed(const std::string& content) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string result(deflateBound(&z, uLong(content.size())) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = uInt(content.size());
  z.next_out = reinterpret_cast<Bytef*>(result.data());
  z.avail_out = uInt(result.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  result.resize(z.total_out);
  deflateEnd(&z);
  return result;
}

/// A folder with a whole small MNIST, to be broken file by file.
class MnistFolder : testing::TemporaryFolder {
 public:
  MnistFolder() {
    put("train-images-idx3-ubyte", images(3));
    put("train-labels-idx1-ubyte", labels(3));
    put("t10k-images-idx3-ubyte", images(2));
    put("t10k-labels-idx1-ubyte", labels(2));
  }
  void put(const std::string& name, const std::string& content) const {
    std::ofstream(path() / name, std::ios::binary) << content;
  }
  void remove(const std::string& name) const { fs::remove(path() / name); }
  [[nodiscard]] std::string data() const { return path().string(); }
  [[nodiscard]] DatasetPair open(std::map<std::string, std::string, std::less<>> settings = {},
                                 const Interrupt& interrupt = {}) const {
    settings["data"] = path().string();
    return open_dataset("mnist", Settings("", settings), interrupt);
  }
};

std::vector<Tensor> read_one(const Dataset& dataset, std::int64_t index) {
  std::vector<Tensor> batch{Tensor::empty(DType::float32, {1, 1, 28, 28}),
                            Tensor::empty(DType::int64, {1})};
  dataset.read(std::span(&index, 1), {}, batch);
  return batch;
}

}  // namespace

TEST_CASE("a pixel is scaled to [0, 1] and normalised by the training set's mean and deviation") {
  const MnistFolder folder;
  const auto batch = read_one(*folder.open().train, 2);
  // 0x33 is 51 of 255: 0.2.
  CHECK(batch[0].span<float>()[100] == Approx((0.2 - 0.1307) / 0.3081).epsilon(1e-6));
  CHECK(batch[1].item<std::int64_t>() == 7);
  const auto plain = read_one(*folder.open({{"mean", "0"}, {"deviation", "1"}}).test, 0);
  CHECK(plain[0].span<float>()[783] == Approx(0.2).epsilon(1e-6));
}

TEST_CASE("files may be packed, also in several members") {
  const MnistFolder folder;
  folder.remove("train-images-idx3-ubyte");
  const std::string whole = images(3);
  folder.put("train-images-idx3-ubyte.gz",
             packed(whole.substr(0, 900)) + packed(whole.substr(900)));
  CHECK(folder.open().train->size() == 3);
}

TEST_CASE("only the first samples are taken where a number is given") {
  const MnistFolder folder;
  const auto pair = folder.open({{"train_samples", "2"}, {"test_samples", "1"}});
  CHECK(pair.train->size() == 2);
  CHECK(pair.test->size() == 1);
  CHECK_THROWS_WITH(folder.open({{"test_samples", "9"}}),
                    Catch::Contains("test_samples is 9, but it has 2 samples; 0 takes all"));
}

TEST_CASE("the sets that took MNIST's place have its files and a scale of their own") {
  const MnistFolder folder;
  for (const auto& [name, scaled] : {std::pair{"fashion-mnist", (0.2 - 0.2860) / 0.3530},
                                     std::pair{"kmnist", (0.2 - 0.1918) / 0.3483}}) {
    CAPTURE(name);
    const auto pair = open_dataset(name, {{"data", folder.data()}});
    CHECK(pair.train->name() == std::string(name) + "-train");
    CHECK(read_one(*pair.train, 0)[0].span<float>()[0] == Approx(scaled).epsilon(1e-5));
    CHECK(pair.test->labels("label") == std::vector<std::int64_t>{7, 7});
  }
  CHECK_THROWS_AS(open_dataset("kmnist", {{"subset", "sample"}}), NotFound);
}

TEST_CASE("swapped images and labels are recognised") {
  const MnistFolder folder;
  folder.put("train-images-idx3-ubyte", labels(3));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("train-images-idx3-ubyte") &&
                                       Catch::Contains("0x00000801") && Catch::Contains("swapped"));
  CHECK_THROWS_AS(folder.open(), FormatError);
}

TEST_CASE("counts that differ, other image sizes and odd labels are refused") {
  const MnistFolder folder;
  folder.put("train-labels-idx1-ubyte", labels(4));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("3 images") && Catch::Contains("4 labels"));
  folder.put("train-labels-idx1-ubyte", labels(3, 10));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("label 0 is 10"));
  folder.put("train-labels-idx1-ubyte", labels(3));
  folder.put("train-images-idx3-ubyte", images(3, 56, 14));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("56x14"));
}

TEST_CASE("every truncation of a file is refused with a typed error") {
  const MnistFolder folder;
  folder.remove("t10k-labels-idx1-ubyte");
  const std::string plain = labels(2), gz = packed(plain);
  for (std::size_t size = 0; size < plain.size(); ++size) {
    folder.put("t10k-labels-idx1-ubyte", plain.substr(0, size));
    CHECK_THROWS_AS(folder.open(), FormatError);
  }
  for (std::size_t size = 0; size < gz.size(); ++size) {
    folder.put("t10k-labels-idx1-ubyte.gz", gz.substr(0, size));
    CHECK_THROWS_AS(folder.open(), FormatError);
  }
  folder.put("t10k-labels-idx1-ubyte.gz", packed(plain + "x"));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("more follow"));
}

TEST_CASE("a flipped bit of a packed file is refused, or has changed nothing") {
  const MnistFolder folder;
  folder.remove("t10k-labels-idx1-ubyte");
  const std::string gz = packed(labels(2));
  std::int64_t refused = 0;
  for (std::size_t byte = 10; byte < gz.size(); ++byte) {  // bytes 2 to 9 are name and time
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = gz;
      broken[byte] = char(broken[byte] ^ (1 << bit));
      folder.put("t10k-labels-idx1-ubyte.gz", broken);
      try {
        const auto pair = folder.open();  // the last byte of a stream has bits without a meaning
        REQUIRE(pair.test->size() == 2);
        CHECK(read_one(*pair.test, 0)[1].item<std::int64_t>() == 7);
        CHECK(read_one(*pair.test, 1)[1].item<std::int64_t>() == 7);
      } catch (const FormatError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 8 * std::int64_t(gz.size() - 10) * 9 / 10);
}

TEST_CASE("a header that promises more than the file can hold is refused before memory is taken") {
  const MnistFolder folder;
  folder.put("train-images-idx3-ubyte", big_endian(0x803) + std::string(12, '\xff') + "abc");
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("can hold no more"));
  folder.remove("train-images-idx3-ubyte");
  folder.put("train-images-idx3-ubyte.gz",
             packed(big_endian(0x803) + big_endian(2000000000) + big_endian(28) + big_endian(28)));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("can hold no more"));
}

TEST_CASE("a gzip bomb is not unpacked beyond what its header says") {
  const MnistFolder folder;
  folder.remove("t10k-labels-idx1-ubyte");
  folder.put("t10k-labels-idx1-ubyte.gz", packed(labels(2) + std::string(100'000'000, '\0')));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("more follow"));
}

TEST_CASE("a gzip bomb of many members is refused before it is unpacked") {
  const MnistFolder folder;
  folder.remove("t10k-labels-idx1-ubyte");
  constexpr std::uint32_t kZeros = 64 << 20;
  std::string bomb = packed(big_endian(0x801) + big_endian(7 * kZeros));
  const std::string member = packed(std::string(kZeros, '\0'));
  for (int i = 0; i < 7; ++i) bomb += member;
  folder.put("t10k-labels-idx1-ubyte.gz", bomb);
  CHECK_THROWS_AS(folder.open(), FormatError);
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("no data compresses like that"));

  std::string empties = packed(labels(2));
  for (int i = 0; i < 20000; ++i) empties += packed("");
  folder.put("t10k-labels-idx1-ubyte.gz", empties);
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("no data compresses like that"));
}

TEST_CASE("images are not unpacked where their header does not fit the labels") {
  const MnistFolder folder;
  folder.remove("t10k-images-idx3-ubyte");
  const std::string broken = images(5).substr(0, 100);  // it ends long before five images do
  folder.put("t10k-images-idx3-ubyte.gz", packed(broken + std::string(1000, '\0')));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("5 images") && Catch::Contains("2 labels"));
}

TEST_CASE("a missing file or folder and a misspelt setting name themselves") {
  const MnistFolder folder;
  folder.remove("t10k-images-idx3-ubyte");
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("t10k-images-idx3-ubyte.gz"));
  CHECK_THROWS_AS(folder.open(), IoError);
  CHECK_THROWS_WITH(folder.open({{"train_sample", "2"}}), Catch::Contains("train_samples"));
  CHECK_THROWS_AS(folder.open({{"deviation", "0"}}), ValueError);
  CHECK_THROWS_AS(folder.open({{"subset", "half"}}), ValueError);
}

TEST_CASE("an interrupt ends opening, whatever it is at") {
  const MnistFolder folder;
  int questions = 0;
  (void)folder.open({}, {.wished = [&] { return ++questions < 0; }});
  CHECK(questions >= 4 * 3);  // each file is read, summed up and unpacked
  for (int last = 1; last <= questions; ++last) {
    CAPTURE(last);
    int left = last;
    CHECK_THROWS_AS(folder.open({}, {.wished = [&] { return --left <= 0; }}), Interrupted);
  }
}

TEST_CASE("reading, summing up and unpacking a large file ask again and again") {
  constexpr int kPieces = 8;
  const MnistFolder folder;
  folder.put("train-labels-idx1-ubyte", labels(kPieces * 8 << 20));
  int questions = 0;
  // It is another set's, which is seen when it has been read.
  CHECK_THROWS_AS(folder.open({}, {.wished = [&] { return ++questions < 0; }}), FormatError);
  CHECK(questions >= (8 + 1 + 1) * kPieces);  // reading asks at each MiB
}

TEST_CASE("the carried sample is real MNIST and says that it is a sample") {
  const auto pair = open_dataset("mnist", {{"subset", "sample"}});
  CHECK(pair.train->size() == 6000);
  CHECK(pair.test->size() == 1000);
  CHECK_THAT(pair.train->description(), Catch::Contains("sample"));
  // The first ten training labels of MNIST.
  const std::vector<std::int64_t> known{5, 0, 4, 1, 9, 2, 1, 3, 1, 4};
  for (std::int64_t i = 0; i < 10; ++i) {
    CHECK(read_one(*pair.train, i)[1].item<std::int64_t>() == known[std::size_t(i)]);
  }
}

TEST_CASE("the whole set has the mean and deviation that it is normalised by") {
  if (!std::getenv("D5_DATA_DIR")) {
    WARN("skipped: D5_DATA_DIR is not set");
    return;
  }
  const auto pair = open_dataset("mnist", {{"subset", "whole"}});
  REQUIRE(pair.train->size() == 60000);
  REQUIRE(pair.test->size() == 10000);
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < pair.train->size(); ++i) {
    const auto batch = read_one(*pair.train, i);
    for (const float pixel : batch[0].span<float>()) {
      sum += pixel;
      squares += double(pixel) * pixel;
    }
  }
  const double count = 60000.0 * 784;
  // The constants are given to four digits.
  CHECK(std::abs(sum / count) < 1e-3);
  CHECK(std::abs(std::sqrt(squares / count) - 1) < 1e-3);
}
