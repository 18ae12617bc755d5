// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "d5/level2_training/carried_file.hpp"
#include "d5/level2_training/dataset.hpp"
#include "d5/level2_training/download.hpp"
#include "level2_training/batch_check.hpp"
#include "level2_training/idx.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kPixels = 28 * 28;
constexpr int kClasses = 10;

struct Normalisation {
  // Mean and standard deviation of the 60,000 training images' pixels, scaled to [0, 1].
  double mean = 0.1307;
  double deviation = 0.3081;
};

/// Handwritten digits: "image" float32 1x28x28, normalised, and "label" int64. Images are kept as
/// bytes; a batch is normalised while it is read.
class MnistDataset final : public Dataset {
 public:
  /// `part` is "train" or "t10k"; `most` cuts the dataset to its first samples, 0 takes all.
  MnistDataset(const std::string& folder, const std::string& part, std::int64_t most,
               const Normalisation& normalisation, std::string origin)
      : part_(part), origin_(std::move(origin)) {
    const std::string images_name = part + "-images-idx3-ubyte";
    const std::string labels_name = part + "-labels-idx1-ubyte";
    auto images = detail::read_idx(folder, images_name, 3, "images");
    auto labels = detail::read_idx(folder, labels_name, 1, "labels");
    const auto fail = [&](const std::string& what) {
      throw FormatError(fmt::format("folder '{}': {}", printable(folder), what));
    };
    if (images.dims[1] * images.dims[2] != kPixels || images.dims[1] != 28) {
      fail(fmt::format("{}: images are {}x{}, MNIST's are 28x28", images_name, images.dims[1],
                       images.dims[2]));
    }
    if (images.dims[0] != labels.dims[0]) {
      fail(fmt::format("{} holds {} images, but {} holds {} labels; they are of different sets",
                       images_name, images.dims[0], labels_name, labels.dims[0]));
    }
    const auto odd = std::ranges::find_if(labels.values, [](auto l) { return l >= kClasses; });
    if (odd != labels.values.end()) {
      fail(fmt::format("{}: label {} is {}, expected 0 to {}", labels_name,
                       odd - labels.values.begin(), *odd, kClasses - 1));
    }
    size_ = most > 0 ? std::min(most, images.dims[0]) : images.dims[0];
    images_ = std::move(images.values);
    labels_ = std::move(labels.values);
    for (int byte = 0; byte < 256; ++byte) {
      scaled_[std::size_t(byte)] =
          float((byte / 255.0 - normalisation.mean) / normalisation.deviation);
    }
  }

  [[nodiscard]] std::string name() const override {
    return part_ == "train" ? "mnist-train" : "mnist-test";
  }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} MNIST images from {}", size_, origin_);
  }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }

  void read(std::span<const std::int64_t> indices, std::span<Tensor> batch) const override {
    detail::check_batch(*this, indices, batch);
    float* image = batch[0].data<float>();
    std::int64_t* label = batch[1].data<std::int64_t>();
    for (const std::int64_t index : indices) {
      const std::uint8_t* bytes = images_.data() + index * kPixels;
      for (std::int64_t i = 0; i < kPixels; ++i) image[i] = scaled_[bytes[i]];
      image += kPixels;
      *label++ = labels_[std::size_t(index)];
    }
  }

 private:
  std::string part_, origin_;
  std::int64_t size_ = 0;
  std::vector<Field> fields_{{"image", {DType::float32, {1, 28, 28}}},
                             {"label", {DType::int64, {}}}};
  std::vector<std::uint8_t> images_, labels_;
  std::array<float, 256> scaled_{};
};

struct Origin {
  std::string folder, description;
};

/// Which files to read: those named, else D5_DATA_DIR/mnist, else the sample that d5 carries.
Origin find_origin(const Settings& settings) {
  std::string folder = settings.text("data", "");
  const std::string subset = settings.text("subset", "any");
  if (subset != "any" && subset != "whole" && subset != "sample") {
    throw ValueError(fmt::format("dataset mnist: subset is '{}', expected any, whole or sample",
                                 printable(subset)));
  }
  if (subset != "sample") {
    const char* shared = std::getenv("D5_DATA_DIR");
    if (folder.empty() && shared) {
      const auto candidate = std::filesystem::path(shared) / "mnist";
      std::error_code ignored;
      if (std::filesystem::is_directory(candidate, ignored)) folder = candidate.string();
    }
    if (settings.flag("download", false)) {
      if (folder.empty()) {
        throw ValueError("dataset mnist: download needs a folder to put the files in: data=DIR");
      }
      download_mnist(folder);
    }
    if (!folder.empty()) return {folder, printable(folder)};
    if (subset == "whole") {
      throw NotFound(
          "dataset mnist: the whole set is asked for, but no folder is known; give data=DIR, with "
          "download=true to fetch it there, or set D5_DATA_DIR to the folder above 'mnist'");
    }
  } else if (settings.flag("download", false) || !folder.empty()) {
    throw ValueError(
        "dataset mnist: data and download are for the whole set, but subset=sample asks for the "
        "one "
        "that d5 carries; leave them out, or use a recipe with subset: whole (mnist-lenet)");
  }
  return {carried_file("data/mnist-sample"), "the sample that d5 carries"};
}

DatasetPair open(const Settings& settings) {
  const Normalisation normalisation{
      .mean = settings.number("mean", Normalisation{}.mean),
      .deviation = settings.number("deviation", Normalisation{}.deviation)};
  const std::int64_t most_train = settings.integer("train_samples", 0);
  const std::int64_t most_test = settings.integer("test_samples", 0);
  const Origin origin = find_origin(settings);
  settings.expect_all_read();
  if (!(normalisation.deviation > 0) || most_train < 0 || most_test < 0) {
    throw ValueError(
        fmt::format("dataset mnist: deviation {}, train_samples {}, test_samples {}; "
                    "expected a positive deviation and no negative number",
                    normalisation.deviation, most_train, most_test));
  }
  const auto part = [&](const char* name, std::int64_t most) {
    return std::make_shared<MnistDataset>(origin.folder, name, most, normalisation,
                                          origin.description);
  };
  return {part("train", most_train), part("t10k", most_test)};
}

}  // namespace

namespace dataset {

void register_mnist(Registry<DatasetEntry>& registry) {
  registry.add("mnist", {"handwritten digits, 28x28, 10 classes, 60,000 + 10,000 "
                         "(LeCun et al., 1998); a sample is carried",
                         open});
}

}  // namespace dataset
}  // namespace d5
