// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/published_data.hpp"
#include "d5/level2_training/data/subset.hpp"
#include "level2_training/data/batch_check.hpp"
#include "level2_training/data/encoded_files.hpp"
#include "level2_training/data/storage/record_shard.hpp"
#include "level2_training/data/storage/shard_name.hpp"

namespace d5::detail {
namespace {

/// Images in TFRecord files, in the form of published ImageNet files. Each Example has
/// "image/encoded", "image/class/label", and "image/filename" as its name. The fields are "image",
/// a scalar of strings, and "label" int64. The files write `first_label` for the first class, which
/// becomes `label_offset`.
///
/// Source: TensorFlow, models/research/inception, build_imagenet_data.py.
class ImageRecords final : public Dataset {
 public:
  struct Labels {
    std::int64_t first_label = 1, label_offset = 0;
  };
  /// Finds the positions of the records by their lengths, or from the index files, and reads no
  /// record.
  /// Throws: IoError, FormatError with file and byte, Interrupted.
  ImageRecords(std::string name, const std::vector<std::string>& files, Labels labels,
               const Interrupt& interrupt);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string description() const override { return records_->description(); }
  [[nodiscard]] std::vector<Artefact> artefacts() const override { return records_->artefacts(); }
  [[nodiscard]] std::int64_t size() const override { return records_->size(); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override {
    return records_->sample_name(index);
  }
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view field) const override;
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override;

 private:
  [[nodiscard]] std::int64_t label(std::int64_t written, std::int64_t index) const;

  std::string name_;
  std::shared_ptr<const Dataset> records_;
  Labels labels_;
  std::vector<Field> fields_{{"image", {DType::string, {}}}, {"label", {DType::int64, {}}}};
};

constexpr const char *kImage = "image/encoded", *kLabel = "image/class/label",
                     *kName = "image/filename";

std::shared_ptr<const Dataset> records_of(const std::vector<std::string>& files,
                                          const Interrupt& interrupt) {
  return join_shards(files, interrupt, [&](const std::string& path) {
    const auto file = std::make_shared<RecordFile>(path, interrupt);
    auto index = read_index(path, "tfrecord", file->bytes().size());
    if (!index) index = file->index(interrupt);
    index->fields = {{kImage, {DType::string, {}}}, {kLabel, {DType::int64, {}}}};
    return std::make_unique<RecordShard>(file, std::move(*index), kName);
  });
}

ImageRecords::ImageRecords(std::string name, const std::vector<std::string>& files, Labels labels,
                           const Interrupt& interrupt)
    : name_(std::move(name)), records_(records_of(files, interrupt)), labels_(labels) {}

std::int64_t ImageRecords::label(std::int64_t written, std::int64_t index) const {
  if (written >= labels_.first_label) return written - labels_.first_label + labels_.label_offset;
  throw FormatError(fmt::format(
      "dataset {}: sample {} ({}) has the label {}, but first_label says that they count from {}; "
      "give first_label={}",
      name_, index, printable(sample_name(index)), written, labels_.first_label, written));
}

std::vector<std::int64_t> ImageRecords::labels(std::string_view field) const {
  if (field != "label") return Dataset::labels(field);  // throws the error
  std::vector<std::int64_t> all = records_->labels(kLabel);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = label(all[i], std::int64_t(i));
  return all;
}

void ImageRecords::read(std::span<const std::int64_t> indices, const Draw& draw,
                        std::span<Tensor> batch) const {
  check_batch(*this, indices, batch);
  records_->read(indices, draw, batch);
  std::int64_t* to = batch[1].data<std::int64_t>();
  for (const std::int64_t index : indices) {
    *to = label(*to, index);
    ++to;
  }
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

namespace fs = std::filesystem;
using detail::EncodedFile;

struct ImagenetOptions : DatasetOptions {
  std::string data, val, val_synsets;
  std::int64_t label_offset = 0, first_label = 1;

  void declare(OptionList& options) {
    options.add(
        "data", data,
        "training images: a folder of class folders, or of images whose names begin with their "
        "class; the original ILSVRC2012_img_train.tar; TFRecord files; or a folder that holds one "
        "of these and the test part; default: where 'd5 data list' finds it",
        detail::path_text());
    options.add("val", val,
                "test part, likewise; default: the folder 'val', ILSVRC2012_img_val.tar or "
                "validation-*-of-* beside the training images",
                detail::path_text());
    options.add("val_synsets", val_synsets,
                "file with the class of each test image, one line each in the order of their "
                "names, if folders and names do not contain it",
                detail::path_text());
    options.add("label_offset", label_offset,
                "label of the first class; 1 for the labels of published TFRecords", {.least = 0});
    options.add("first_label", first_label, "label of the first class in TFRecords", {.least = 0});
    DatasetOptions::declare(options);
  }
};

/// Whether the word is a synset of WordNet, which names a class: "n01440764".
bool is_synset(std::string_view word) {
  constexpr std::size_t kDigits = 8;
  return word.size() == 1 + kDigits && word[0] == 'n' &&
         std::ranges::all_of(word.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

/// The file's folder, or the start of its own name: "n01440764_10026.JPEG".
std::string synset_of(const EncodedFile& file) {
  const fs::path name(file.name);
  const std::string folder = name.parent_path().filename().string();
  if (is_synset(folder)) return folder;
  const std::string stem = name.filename().string();
  const std::string begin = stem.substr(0, stem.find('_'));
  if (is_synset(begin)) return begin;
  throw FormatError(fmt::format(
      "dataset imagenet: '{}' is in no class's folder, and its name begins with none; expected "
      "n01440764/NAME.JPEG or n01440764_NAME.JPEG, or val_synsets=FILE for the test images",
      printable(file.path)));
}

/// Assigns each file to the class given by its line in `path`.
void take_synsets(const std::string& path, std::vector<EncodedFile>& files) {
  std::istringstream words(read_file(path, memory_budget()));
  std::size_t count = 0;
  for (std::string word; words >> word; ++count) {
    if (!is_synset(word)) {
      throw FormatError(fmt::format("'{}': word {} is '{}', expected a class such as n01440764",
                                    printable(path), count + 1, printable(word)));
    }
    if (count < files.size()) files[count].name = word + "/" + files[count].name;
  }
  if (count == files.size()) return;
  throw FormatError(fmt::format("'{}' names the classes of {} images, but there are {}",
                                printable(path), count, files.size()));
}

bool is_archive(const std::string& place) { return place.ends_with(".tar"); }

std::vector<EncodedFile> images_in(const std::string& place, const Interrupt& interrupt) {
  const auto& endings = detail::image_endings();
  auto files = is_archive(place) ? detail::files_in_archive(place, endings, interrupt)
                                 : detail::files_below(place, endings, interrupt);
  if (!files.empty()) return files;
  throw NotFound(fmt::format("dataset imagenet: '{}' holds no images; {}", printable(place),
                             published_data().at("imagenet").by_hand));
}

/// Location of a part in `folder`; empty if it is missing.
std::string place_in(const std::string& folder, const char* images, const char* archive,
                     const char* records) {
  std::error_code ignored;
  const fs::path base(folder);
  if (fs::is_directory(base / images, ignored)) return base / images;
  if (fs::is_regular_file(base / archive, ignored)) return base / archive;
  return detail::shards_of(base / records).empty() ? "" : base / records;
}

/// Opens parts; the first one from files defines the classes of all.
class Parts {
 public:
  Parts(const ImagenetOptions& options, const Interrupt& interrupt)
      : options_(options), interrupt_(interrupt) {}

  std::shared_ptr<const Dataset> open(const char* name, const std::string& place,
                                      const std::string& synsets = {}) {
    std::error_code ignored;
    if (!fs::is_directory(place, ignored) && !is_archive(place)) {
      return std::make_shared<detail::ImageRecords>(
          name, container_files(place, "tfrecord"),
          detail::ImageRecords::Labels{options_.first_label, options_.label_offset}, interrupt_);
    }
    auto files = images_in(place, interrupt_);
    if (!synsets.empty()) take_synsets(synsets, files);
    if (classes_.empty()) classes_ = detail::classes_of(files, synset_of);
    detail::label_files(files, classes_, synset_of, "dataset imagenet");
    for (auto& file : files) file.label += options_.label_offset;
    return std::make_shared<detail::EncodedFiles>(name, "ImageNet files from " + printable(place),
                                                  std::move(files));
  }

 private:
  const ImagenetOptions& options_;
  const Interrupt& interrupt_;
  std::vector<std::string> classes_;
};

DatasetPair open_imagenet(const Interrupt& interrupt, const ImagenetOptions& options) {
  const std::string data = options.data.empty() ? found_data("imagenet") : options.data;
  if (data.empty()) {
    const PublishedData& published = published_data().at("imagenet");
    throw NotFound(fmt::format(
        "dataset imagenet: its folder is not known; data=DIR, or D5_DATA_DIR, the folder above "
        "'{}', says where it is. From {}: {}",
        published.folder, published.source, published.by_hand));
  }
  std::error_code ignored;
  std::string train = data, test = options.val;
  if (fs::is_directory(data, ignored)) {
    const std::string found = place_in(data, "train", "ILSVRC2012_img_train.tar", "train");
    if (!found.empty()) train = found;
    if (!found.empty() && test.empty()) {
      test = place_in(data, "val", "ILSVRC2012_img_val.tar", "validation");
    }
  }
  Parts parts(options, interrupt);
  DatasetPair pair{parts.open("imagenet-train", train), nullptr};
  if (!test.empty()) pair.test = parts.open("imagenet-test", test, options.val_synsets);
  return options.parts_of(std::move(pair));
}

}  // namespace

namespace dataset {

void register_imagenet(Registry<DatasetEntry>& registry) {
  registry.add("imagenet",
               DatasetEntry::with<ImagenetOptions>(
                   "photographs as files, 1,000 classes by their sorted ids (Russakovsky et al., "
                   "2015)",
                   open_imagenet));
}

}  // namespace dataset
}  // namespace d5
