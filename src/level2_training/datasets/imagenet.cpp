// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "d5/core/error.hpp"
#include "d5/level2_training/published_data.hpp"
#include "d5/level2_training/subset.hpp"
#include "level2_training/encoded_files.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using detail::EncodedFile;

struct ImagenetOptions : DatasetOptions {
  std::string data;
  std::int64_t label_offset = 0;

  void declare(OptionList& options) {
    options.add("data", data,
                "folder with 'train' and 'val', or of the images themselves; else where 'd5 data "
                "list' finds it");
    options.add("label_offset", label_offset,
                "the first class's label: 1 where labels are to be those of published TFRecords",
                {.least = 0});
    DatasetOptions::declare(options);
  }
};

/// "n01440764": a synset of WordNet, as the classes are called.
bool is_synset(std::string_view word) {
  constexpr std::size_t kDigits = 8;
  return word.size() == 1 + kDigits && word[0] == 'n' &&
         std::ranges::all_of(word.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

/// The folder that it is in, or what its own name begins with: "n01440764_10026.JPEG".
std::string synset_of(const EncodedFile& file) {
  const fs::path name(file.name);
  const std::string folder = name.parent_path().filename().string();
  if (is_synset(folder)) return folder;
  const std::string stem = name.filename().string();
  const std::string begin = stem.substr(0, stem.find('_'));
  if (is_synset(begin)) return begin;
  throw FormatError(fmt::format(
      "dataset imagenet: '{}' is in no class's folder, and its name begins with none; expected "
      "n01440764/NAME.JPEG or n01440764_NAME.JPEG",
      printable(file.path)));
}

std::vector<EncodedFile> images_below(const std::string& folder, const Interrupt& interrupt) {
  auto files = detail::files_below(folder, detail::image_endings(), interrupt);
  if (!files.empty()) return files;
  throw NotFound(fmt::format("dataset imagenet: '{}' holds no images; {}", printable(folder),
                             published_data().at("imagenet").by_hand));
}

DatasetPair open(const Interrupt& interrupt, const ImagenetOptions& options) {
  const std::string folder = options.data.empty() ? found_data("imagenet") : options.data;
  if (folder.empty()) {
    const PublishedData& data = published_data().at("imagenet");
    throw NotFound(fmt::format(
        "dataset imagenet: its folder is not known; data=DIR, or D5_DATA_DIR, the folder above "
        "'{}', says where it is. From {}: {}",
        data.folder, data.source, data.by_hand));
  }
  std::error_code ignored;
  const fs::path train = fs::path(folder) / "train", test = fs::path(folder) / "val";
  const bool has_parts = fs::is_directory(train, ignored);
  auto train_files = images_below(has_parts ? train.string() : folder, interrupt);
  const auto classes = detail::classes_of(train_files, synset_of);
  const auto part = [&](const char* name, std::vector<EncodedFile> files) {
    detail::label_files(files, classes, synset_of, "dataset imagenet");
    for (auto& file : files) file.label += options.label_offset;
    return std::make_shared<detail::EncodedFiles>(name, "ImageNet files from " + printable(folder),
                                                  std::move(files));
  };
  DatasetPair pair{part("imagenet-train", std::move(train_files)), nullptr};
  if (has_parts && fs::is_directory(test, ignored)) {
    pair.test = part("imagenet-test", images_below(test.string(), interrupt));
  }
  return options.parts_of(std::move(pair));
}

}  // namespace

namespace dataset {

void register_imagenet(Registry<DatasetEntry>& registry) {
  registry.add("imagenet",
               DatasetEntry::with<ImagenetOptions>(
                   "photographs as files, 1,000 classes by their sorted ids (Russakovsky et al., "
                   "2015)",
                   open));
}

}  // namespace dataset
}  // namespace d5
