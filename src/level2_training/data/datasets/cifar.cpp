// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/entries/path_option.hpp"
#include "core/files/gzip.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/published_data.hpp"
#include "d5/level2_training/data/subset.hpp"
#include "level2_training/data/pixel_dataset.hpp"
#include "level2_training/data/published/archive_files.hpp"
#include "level2_training/data/published/data_file.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = 3 * 32 * 32;

/// File layout of one of the two sets. A record is its labels, a byte each, and an image.
/// Source: Krizhevsky, "Learning Multiple Layers of Features from Tiny Images" (2009), the binary
/// version of the files.
struct CifarSet {
  std::string name, title;
  std::vector<std::string> train_files;
  std::string test_file;
  std::size_t most_records;  ///< limit of a file
  std::vector<int> classes;  ///< number of classes of each label of a record
  std::string summary;

  [[nodiscard]] std::size_t record() const { return classes.size() + kPixels; }
};

const CifarSet& cifar10() {
  static const CifarSet set{
      .name = "cifar-10",
      .title = "CIFAR-10",
      .train_files = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                      "data_batch_4.bin", "data_batch_5.bin"},
      .test_file = "test_batch.bin",
      .most_records = 10'000,
      .classes = {10},
      .summary = "photographs, 32x32 in colour, 10 classes, 50,000 + 10,000 (Krizhevsky, 2009)"};
  return set;
}

const CifarSet& cifar100() {
  static const CifarSet set{
      .name = "cifar-100",
      .title = "CIFAR-100",
      .train_files = {"train.bin"},
      .test_file = "test.bin",
      .most_records = 50'000,
      .classes = {20, 100},
      .summary =
          "photographs, 32x32 in colour, 100 classes in 20 groups, 50,000 + 10,000 "
          "(Krizhevsky, 2009)"};
  return set;
}

/// Means and standard deviations of the 50,000 training images per channel, scaled to [0, 1].
struct CifarOptions : DatasetOptions {
  std::string data;
  bool download = false;
  std::vector<double> mean, deviation;

  CifarOptions(std::vector<double> mean, std::vector<double> deviation)
      : mean(std::move(mean)), deviation(std::move(deviation)) {}
  void declare(OptionList& options) {
    options.add(
        "data", data,
        "folder of the files, or the published .tar.gz; default: where 'd5 data list' finds them",
        detail::path_text());
    options.add("download", download, "download the .tar.gz to the folder, or to the cache");
    options.add("mean", mean, "mean of each channel, subtracted from pixels in [0, 1]");
    options.add("deviation", deviation,
                "standard deviation of each channel; pixels are divided by it", {.above = 0});
    DatasetOptions::declare(options);
  }
};

struct Cifar10Options : CifarOptions {
  Cifar10Options() : CifarOptions({0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}) {}
  static constexpr std::size_t label() { return 0; }
};

struct Cifar100Options : CifarOptions {
  enum class Labels { coarse, fine } labels = Labels::fine;

  Cifar100Options() : CifarOptions({0.5071, 0.4865, 0.4409}, {0.2673, 0.2564, 0.2762}) {}
  void declare(OptionList& options) {
    CifarOptions::declare(options);
    options.add("labels", labels, "the 100 classes, or their 20 groups", {"coarse", "fine"});
  }
  [[nodiscard]] std::size_t label() const { return std::size_t(labels); }
};

/// Appends the records of one file, with label number `label`.
void append(const CifarSet& set, std::size_t label, std::string_view bytes, const std::string& path,
            detail::LabelledPixels& into) {
  const auto fail = [&](const std::string& what) {
    throw FormatError(fmt::format("'{}': {}; fetch it again", printable(path), what));
  };
  const std::size_t count = bytes.size() / set.record();
  if (count > set.most_records) {
    fail(fmt::format("holds more than the {} images of {}'s files", set.most_records, set.title));
  }
  if (bytes.empty()) fail("holds no image");
  if (bytes.size() % set.record() != 0) {
    fail(fmt::format("image {} ends after {} bytes, expected {}", count,
                     bytes.size() % set.record(), set.record()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view record = bytes.substr(i * set.record(), set.record());
    for (std::size_t l = 0; l < set.classes.size(); ++l) {
      const int given = static_cast<std::uint8_t>(record[l]);
      if (given < set.classes[l]) continue;
      fail(fmt::format("label {} is {}, expected 0 to {}", i, given, set.classes[l] - 1));
    }
    into.labels.push_back(static_cast<std::uint8_t>(record[label]));
    into.pixels.insert(into.pixels.end(), record.begin() + std::ptrdiff_t(set.classes.size()),
                       record.end());
  }
}

/// The file's content, decompressed if necessary; limited to one record above the maximum.
std::string unpacked(const CifarSet& set, const std::string& file, const std::string& path) {
  detail::GzipReader reader(file, path);
  const std::size_t most = (set.most_records + 1) * set.record();
  std::string bytes(std::min(most, reader.most_left()), '\0');
  bytes.resize(reader.read(bytes.data(), bytes.size()));
  return bytes;
}

/// Reads a part from a folder: the existing ones of `files`; the first must exist.
detail::LabelledPixels read_folder(const CifarSet& set, std::size_t label,
                                   const std::string& folder, const std::vector<std::string>& files,
                                   const Interrupt& interrupt) {
  detail::LabelledPixels part;
  for (const auto& name : files) {
    std::error_code ignored;
    const bool there = fs::exists(fs::path(folder) / name, ignored) ||
                       fs::exists(fs::path(folder) / (name + ".gz"), ignored);
    if (!there && name != files.front()) continue;
    const std::string path = detail::data_file(folder, name);
    // A compressed file twice as large as its largest valid content consists of many empty members.
    const std::string file = read_file(path, 2 * set.most_records * set.record(), interrupt);
    append(set, label, unpacked(set, file, path), path, part);
    part.files.push_back(
        {.name = fs::path(path).filename().string(), .sha256 = detail::sha256(file)});
  }
  return part;
}

struct Parts {
  detail::LabelledPixels train, test;
};

Parts read_archive(const CifarSet& set, std::size_t label, const std::string& path,
                   const Interrupt& interrupt) {
  std::map<std::string, std::string> files;
  const auto wanted = [&](const std::string& name) {
    return name == set.test_file ||
           std::ranges::find(set.train_files, name) != set.train_files.end();
  };
  detail::read_archive(
      path, (set.most_records + 1) * set.record(), wanted,
      [&](const std::string& name, const std::string& content) { files[name] = content; },
      interrupt);
  const auto take = [&](const std::string& name, detail::LabelledPixels& into) {
    const auto place = files.find(name);
    if (place == files.end()) {
      throw FormatError(fmt::format("'{}' has no file {}, which {}'s archive has; fetch it again",
                                    printable(path), name, set.title));
    }
    append(set, label, place->second, path + ": " + name, into);
  };
  Parts parts;
  for (const auto& name : set.train_files) take(name, parts.train);
  take(set.test_file, parts.test);
  const std::string sum = detail::sha256(read_file(path, std::size_t{1} << 30, interrupt));
  parts.train.files = {{.name = fs::path(path).filename().string(), .sha256 = sum}};
  parts.test.files = parts.train.files;
  return parts;
}

/// The folder, or the archive in it if it contains no files of the data set.
std::string place_of(const CifarSet& set, const CifarOptions& options, const Interrupt& interrupt) {
  std::string folder = options.data.empty() ? found_data(set.name) : options.data;
  if (options.download) {
    folder = fetch_data(set.name, {.folder = folder, .interrupt = interrupt});
  }
  if (folder.empty()) {
    throw NotFound(fmt::format(
        "dataset {0}: its files are not found; 'd5 data fetch {0}' fetches them, data=PATH or "
        "D5_DATA_DIR, the folder above '{1}', says where they are",
        set.name, published_data().at(set.name).folder));
  }
  std::error_code ignored;
  const fs::path archive = fs::path(folder) / published_data().at(set.name).files.front().name;
  for (const char* packed : {"", ".gz"}) {
    if (fs::exists(fs::path(folder) / (set.train_files.front() + packed), ignored)) return folder;
  }
  return fs::is_regular_file(archive, ignored) ? archive.string() : folder;
}

DatasetPair open_cifar(const CifarSet& set, const CifarOptions& options, std::size_t label,
                       const Interrupt& interrupt) {
  const std::string place = place_of(set, options, interrupt);
  std::error_code ignored;
  Parts parts;
  if (fs::is_regular_file(place, ignored)) {
    parts = read_archive(set, label, place, interrupt);
  } else {
    parts = {read_folder(set, label, place, set.train_files, interrupt),
             read_folder(set, label, place, {set.test_file}, interrupt)};
  }
  const auto finish = [&](detail::LabelledPixels data, const char* part) {
    data.name = set.name + part;
    data.content = fmt::format("{} images from {}", set.title, printable(place));
    data.shape = {3, 32, 32};
    return std::make_shared<detail::PixelDataset>(
        std::move(data), detail::PixelScale{options.mean, options.deviation});
  };
  return options.parts_of(
      {finish(std::move(parts.train), "-train"), finish(std::move(parts.test), "-test")});
}

template <class Options>
DatasetEntry entry_of(const CifarSet& set) {
  return DatasetEntry::with<Options>(set.summary,
                                     [&set](const Interrupt& interrupt, const Options& options) {
                                       return open_cifar(set, options, options.label(), interrupt);
                                     });
}

}  // namespace

namespace dataset {

void register_cifar(Registry<DatasetEntry>& registry) {
  registry.add(cifar10().name, entry_of<Cifar10Options>(cifar10()));
  registry.add(cifar100().name, entry_of<Cifar100Options>(cifar100()));
}

}  // namespace dataset
}  // namespace d5
