// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "core/gzip.hpp"
#include "core/sha256.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/level2_training/dataset.hpp"
#include "level2_training/batch_check.hpp"
#include "level2_training/data_file.hpp"

namespace d5 {
namespace {

constexpr std::size_t kChannels = 3, kPixels = 32 * 32;
constexpr std::size_t kRecord = 1 + kChannels * kPixels;  ///< a label and an image
constexpr std::size_t kMostRecords = 10'000;              ///< of a file
constexpr int kClasses = 10;

// Of the 50,000 training images' pixels in each channel, scaled to [0, 1].
constexpr std::array<double, kChannels> kMeans{0.4914, 0.4822, 0.4465};
constexpr std::array<double, kChannels> kDeviations{0.2470, 0.2435, 0.2616};

struct CifarOptions {
  std::string data;
  std::int64_t train_samples = 0;
  std::int64_t test_samples = 0;

  void declare(OptionList& options) {
    options.add("data", data, "folder of the files; else $D5_DATA_DIR/cifar-10-batches-bin");
    options.add("train_samples", train_samples, "takes the first ones; 0: all", {.least = 0});
    options.add("test_samples", test_samples, "takes the first ones; 0: all", {.least = 0});
  }
};

/// Photographs: "image" float32 3x32x32, normalised by channel, and "label" int64. Images are kept
/// as bytes; a batch is normalised while it is read.
/// Source: Krizhevsky, "Learning Multiple Layers of Features from Tiny Images" (2009), the binary
/// version of the files.
class CifarDataset final : public Dataset {
 public:
  /// `most` cuts the dataset to its first samples, 0 takes all.
  CifarDataset(std::string name, const std::string& folder, const std::vector<std::string>& files,
               std::int64_t most, const Interrupt& interrupt)
      : name_(std::move(name)), origin_(printable(folder)) {
    for (const auto& file : files) append(detail::data_file(folder, file), interrupt);
    if (most > 0) records_.resize(std::min(records_.size(), std::size_t(most) * kRecord));
    for (std::size_t c = 0; c < kChannels; ++c) {
      for (int byte = 0; byte < 256; ++byte) {
        scaled_[c][std::size_t(byte)] = float((byte / 255.0 - kMeans[c]) / kDeviations[c]);
      }
    }
  }

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} CIFAR-10 images from {}", size(), origin_);
  }
  [[nodiscard]] std::vector<Artefact> artefacts() const override { return files_; }
  [[nodiscard]] std::int64_t size() const override {
    return std::int64_t(records_.size() / kRecord);
  }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }

  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    detail::check_batch(*this, indices, batch);
    float* image = batch[0].data<float>();
    std::int64_t* label = batch[1].data<std::int64_t>();
    for (const std::int64_t index : indices) {
      const std::uint8_t* bytes = records_.data() + std::size_t(index) * kRecord;
      *label++ = *bytes++;
      for (const auto& scaled : scaled_) {
        for (std::size_t i = 0; i < kPixels; ++i) *image++ = scaled[*bytes++];
      }
    }
  }

 private:
  /// A file is read, summed up and unpacked in a fraction of a second, so reading alone asks.
  void append(const std::string& path, const Interrupt& interrupt) {
    const auto fail = [&](const std::string& what) {
      throw FormatError(fmt::format("'{}': {}; fetch it again", printable(path), what));
    };
    // What packs twice as large as the most that it may hold is many members that hold nothing.
    const std::string file = read_file(path, 2 * kMostRecords * kRecord, interrupt);
    detail::GzipReader reader(file, path);
    const std::size_t begin = records_.size();
    records_.resize(begin + kMostRecords * kRecord);
    const std::size_t count = reader.read(records_.data() + begin, kMostRecords * kRecord);
    if (std::uint8_t one = 0; reader.read(&one, 1) != 0) {
      fail(fmt::format("holds more than the {} images of CIFAR-10's files", kMostRecords));
    }
    if (count == 0) fail("holds no image");
    if (count % kRecord != 0) {
      fail(fmt::format("image {} ends after {} bytes, expected {}", count / kRecord,
                       count % kRecord, kRecord));
    }
    records_.resize(begin + count);
    for (std::size_t i = 0; i < count / kRecord; ++i) {
      const int label = records_[begin + i * kRecord];
      if (label < kClasses) continue;
      fail(fmt::format("label {} is {}, expected 0 to {}", i, label, kClasses - 1));
    }
    files_.push_back(
        {.name = std::filesystem::path(path).filename().string(), .sha256 = detail::sha256(file)});
  }

  std::string name_, origin_;
  std::vector<Field> fields_{{"image", {DType::float32, {3, 32, 32}}},
                             {"label", {DType::int64, {}}}};
  std::vector<std::uint8_t> records_;
  std::vector<Artefact> files_;
  std::array<std::array<float, 256>, kChannels> scaled_{};
};

std::string folder_of(const CifarOptions& options) {
  if (!options.data.empty()) return options.data;
  if (const char* shared = std::getenv("D5_DATA_DIR")) {
    return (std::filesystem::path(shared) / "cifar-10-batches-bin").string();
  }
  throw NotFound(
      "dataset cifar-10: no folder is known; give data=DIR, where the binary version is unpacked, "
      "or set D5_DATA_DIR to the folder above 'cifar-10-batches-bin'");
}

/// "data_batch_1.bin" and those of its successors that are there.
std::vector<std::string> training_files(const std::string& folder) {
  std::vector<std::string> files{"data_batch_1.bin"};
  for (int i = 2; i <= 5; ++i) {
    const std::string name = fmt::format("data_batch_{}.bin", i);
    const auto path = std::filesystem::path(folder) / name;
    std::error_code ignored;
    const bool there = std::filesystem::exists(path, ignored) ||
                       std::filesystem::exists(path.string() + ".gz", ignored);
    if (there) files.push_back(name);
  }
  return files;
}

DatasetPair open(const Interrupt& interrupt, const CifarOptions& options) {
  const std::string folder = folder_of(options);
  return {std::make_shared<CifarDataset>("cifar-10-train", folder, training_files(folder),
                                         options.train_samples, interrupt),
          std::make_shared<CifarDataset>("cifar-10-test", folder,
                                         std::vector<std::string>{"test_batch.bin"},
                                         options.test_samples, interrupt)};
}

}  // namespace

namespace dataset {

void register_cifar(Registry<DatasetEntry>& registry) {
  registry.add("cifar-10", DatasetEntry::with<CifarOptions>(
                               "photographs, 32x32 in colour, 10 classes, 50,000 + "
                               "10,000 (Krizhevsky, 2009)",
                               open));
}

}  // namespace dataset
}  // namespace d5
