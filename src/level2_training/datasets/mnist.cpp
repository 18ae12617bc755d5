// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "d5/core/carried_file.hpp"
#include "d5/core/download.hpp"
#include "d5/level2_training/dataset.hpp"
#include "level2_training/batch_check.hpp"
#include "level2_training/idx.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kPixels = 28 * 28;
constexpr int kClasses = 10;

enum class Subset { any, whole, sample };

struct MnistOptions {
  std::string data;
  Subset subset = Subset::any;
  bool download = false;
  // Of the 60,000 training images' pixels, scaled to [0, 1].
  double mean = 0.1307;
  double deviation = 0.3081;
  std::int64_t train_samples = 0;
  std::int64_t test_samples = 0;

  void declare(OptionList& options) {
    options.add("data", data, "folder of the files; else $D5_DATA_DIR/mnist, else the sample");
    options.add("subset", subset, "the whole set, the sample that d5 carries, or what is there",
                {"any", "whole", "sample"});
    options.add("download", download, "fetches the files into the folder");
    options.add("mean", mean, "taken from every pixel, which are from 0 to 1");
    options.add("deviation", deviation, "every pixel is divided by it", {.above = 0});
    options.add("train_samples", train_samples, "takes the first ones; 0: all", {.least = 0});
    options.add("test_samples", test_samples, "takes the first ones; 0: all", {.least = 0});
  }
};

struct Origin {
  std::string folder, description;
};

/// Handwritten digits: "image" float32 1x28x28, normalised, and "label" int64. Images are kept as
/// bytes; a batch is normalised while it is read.
class MnistDataset final : public Dataset {
 public:
  /// `part` is "train" or "t10k"; `most` cuts the dataset to its first samples, 0 takes all.
  MnistDataset(const Origin& origin, const std::string& part, std::int64_t most,
               const MnistOptions& options, const Interrupt& interrupt)
      : part_(part), origin_(origin.description) {
    const std::string& folder = origin.folder;
    const std::string images_name = part + "-images-idx3-ubyte";
    const std::string labels_name = part + "-labels-idx1-ubyte";
    const auto fail = [&](const std::string& what) {
      throw FormatError(fmt::format("folder '{}': {}", printable(folder), what));
    };
    auto labels = detail::read_idx(folder, labels_name, 1, "labels", interrupt);
    const auto check = [&](const std::vector<std::int64_t>& dims) {
      if (dims[1] * dims[2] != kPixels || dims[1] != 28) {
        fail(fmt::format("{}: images are {}x{}, MNIST's are 28x28", images_name, dims[1], dims[2]));
      }
      if (dims[0] != labels.dims[0]) {
        fail(fmt::format("{} holds {} images, but {} holds {} labels; they are of different sets",
                         images_name, dims[0], labels_name, labels.dims[0]));
      }
    };
    auto images = detail::read_idx(folder, images_name, 3, "images", interrupt, check);
    const auto odd = std::ranges::find_if(labels.values, [](auto l) { return l >= kClasses; });
    if (odd != labels.values.end()) {
      fail(fmt::format("{}: label {} is {}, expected 0 to {}", labels_name,
                       odd - labels.values.begin(), *odd, kClasses - 1));
    }
    size_ = most > 0 ? std::min(most, images.dims[0]) : images.dims[0];
    images_ = std::move(images.values);
    labels_ = std::move(labels.values);
    files_ = {std::move(images.file), std::move(labels.file)};
    for (int byte = 0; byte < 256; ++byte) {
      scaled_[std::size_t(byte)] = float((byte / 255.0 - options.mean) / options.deviation);
    }
  }

  [[nodiscard]] std::string name() const override {
    return part_ == "train" ? "mnist-train" : "mnist-test";
  }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} MNIST images from {}", size_, origin_);
  }
  [[nodiscard]] std::vector<Artefact> artefacts() const override { return files_; }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }

  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
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
  std::vector<Artefact> files_;
  std::array<float, 256> scaled_{};
};

/// The four files into `folder`, from public mirrors.
void fetch_files(const std::string& folder, const Interrupt& interrupt) {
  struct File {
    const char* name;
    const char* sha256;  // of the unpacked file, which is the same however a mirror packs it
  };
  static constexpr std::array<File, 4> kFiles{{
      {"train-images-idx3-ubyte",
       "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
      {"train-labels-idx1-ubyte",
       "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
      {"t10k-images-idx3-ubyte",
       "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
      {"t10k-labels-idx1-ubyte",
       "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
  }};
  static constexpr std::array kMirrors{"https://ossci-datasets.s3.amazonaws.com/mnist/",
                                       "https://storage.googleapis.com/cvdf-datasets/mnist/"};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw IoError(fmt::format("cannot make folder '{}': {}", printable(folder), error.message()));
  }
  for (const auto& [name, sha256] : kFiles) {
    Download what{.urls = {}, .sha256 = sha256, .most_bytes = std::size_t{64} << 20};
    for (const char* mirror : kMirrors) what.urls.push_back(fmt::format("{}{}.gz", mirror, name));
    download(what, (std::filesystem::path(folder) / (std::string(name) + ".gz")).string(),
             interrupt);
  }
}

/// Which files to read: those named, else D5_DATA_DIR/mnist, else the sample that d5 carries.
Origin find_origin(const MnistOptions& options, const Interrupt& interrupt) {
  std::string folder = options.data;
  if (options.subset != Subset::sample) {
    const char* shared = std::getenv("D5_DATA_DIR");
    if (folder.empty() && shared) {
      const auto candidate = std::filesystem::path(shared) / "mnist";
      std::error_code ignored;
      if (std::filesystem::is_directory(candidate, ignored)) folder = candidate.string();
    }
    if (options.download) {
      if (folder.empty()) {
        throw ValueError("dataset mnist: download needs a folder to put the files in: data=DIR");
      }
      fetch_files(folder, interrupt);
    }
    if (!folder.empty()) return {folder, printable(folder)};
    if (options.subset == Subset::whole) {
      throw NotFound(
          "dataset mnist: the whole set is asked for, but no folder is known; give data=DIR, with "
          "download=true to fetch it there, or set D5_DATA_DIR to the folder above 'mnist'");
    }
  } else if (options.download || !folder.empty()) {
    throw ValueError(
        "dataset mnist: data and download are for the whole set, but subset=sample asks for the "
        "one "
        "that d5 carries; leave them out, or use a recipe with subset: whole (mnist-lenet)");
  }
  return {carried_file("data/mnist-sample"), "the sample that d5 carries"};
}

DatasetPair open(const Interrupt& interrupt, const MnistOptions& options) {
  const Origin origin = find_origin(options, interrupt);
  const auto part = [&](const char* name, std::int64_t most) {
    return std::make_shared<MnistDataset>(origin, name, most, options, interrupt);
  };
  return {part("train", options.train_samples), part("t10k", options.test_samples)};
}

}  // namespace

namespace dataset {

void register_mnist(Registry<DatasetEntry>& registry) {
  registry.add("mnist", DatasetEntry::with<MnistOptions>(
                            "handwritten digits, 28x28, 10 classes, 60,000 + 10,000 "
                            "(LeCun et al., 1998); a sample is carried",
                            open));
}

}  // namespace dataset
}  // namespace d5
