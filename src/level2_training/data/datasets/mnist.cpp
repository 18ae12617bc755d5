// SPDX-License-Identifier: Apache-2.0
// MNIST, and its drop-in replacements: the same files of the same sizes.
#include <fmt/format.h>

#include <algorithm>

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/level2_training/data/published_data.hpp"
#include "d5/level2_training/data/subset.hpp"
#include "level2_training/data/idx.hpp"
#include "level2_training/data/pixel_dataset.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kEdge = 28;
constexpr int kClasses = 10;

/// A data set of this format, with its name and its name in messages.
struct IdxSet {
  std::string name, title;
};

/// Options of these data sets; `mean` and `deviation` are those of the 60,000 training images'
/// pixels, scaled to [0, 1].
struct IdxOptions : DatasetOptions {
  std::string data;
  bool download = false;
  double mean, deviation;

  IdxOptions(double mean, double deviation) : mean(mean), deviation(deviation) {}
  void declare(OptionList& options) {
    options.add("data", data, "folder of the files; default: where 'd5 data list' finds them",
                detail::path_text());
    options.add("download", download, "download the files to the folder, or to the cache");
    options.add("mean", mean, "mean, subtracted from pixels in [0, 1]");
    options.add("deviation", deviation, "standard deviation; pixels are divided by it",
                {.above = 0});
    DatasetOptions::declare(options);
  }
};

struct FashionOptions : IdxOptions {
  FashionOptions() : IdxOptions(0.2860, 0.3530) {}
};

struct KuzushijiOptions : IdxOptions {
  KuzushijiOptions() : IdxOptions(0.1918, 0.3483) {}
};

enum class Subset { any, whole, sample };

struct MnistOptions : IdxOptions {
  Subset subset = Subset::any;

  MnistOptions() : IdxOptions(0.1307, 0.3081) {}
  void declare(OptionList& options) {
    IdxOptions::declare(options);
    options.add("subset", subset,
                "the whole set, the sample that comes with d5, or whichever is available",
                {"any", "whole", "sample"});
  }
};

/// `part` is "train" or "t10k".
detail::LabelledPixels read_part(const std::string& folder, const std::string& part,
                                 const IdxSet& set, const Interrupt& interrupt) {
  const std::string images_name = part + "-images-idx3-ubyte";
  const std::string labels_name = part + "-labels-idx1-ubyte";
  const auto fail = [&](const std::string& what) {
    throw FormatError(fmt::format("folder '{}': {}", printable(folder), what));
  };
  auto labels = detail::read_idx(folder, labels_name, 1, "labels", interrupt);
  const auto check = [&](const std::vector<std::int64_t>& dims) {
    if (dims[1] != kEdge || dims[2] != kEdge) {
      fail(fmt::format("{}: images are {}x{}, {}'s are 28x28", images_name, dims[1], dims[2],
                       set.title));
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
  return {.name = set.name + (part == "train" ? "-train" : "-test"),
          .content = {},
          .shape = {1, kEdge, kEdge},
          .pixels = std::move(images.values),
          .labels = std::move(labels.values),
          .files = {std::move(images.file), std::move(labels.file)}};
}

struct Origin {
  std::string folder, description;
};

DatasetPair open_mnist(const Origin& origin, const IdxSet& set, const IdxOptions& options,
                       const Interrupt& interrupt) {
  const auto part = [&](const char* name) {
    detail::LabelledPixels data = read_part(origin.folder, name, set, interrupt);
    data.content = fmt::format("{} images from {}", set.title, origin.description);
    return std::make_shared<detail::PixelDataset>(
        std::move(data), detail::PixelScale{{options.mean}, {options.deviation}});
  };
  return options.parts_of({part("train"), part("t10k")});
}

/// The given or found folder, after a download if that is allowed; otherwise empty.
std::string folder_of(const IdxSet& set, const IdxOptions& options, const Interrupt& interrupt) {
  const std::string folder = options.data.empty() ? found_data(set.name) : options.data;
  if (!options.download) return folder;
  return fetch_data(set.name, {.folder = folder, .interrupt = interrupt});
}

template <class Options>
DatasetEntry entry_of(const IdxSet& set, const std::string& summary) {
  return DatasetEntry::with<Options>(
      summary, [set](const Interrupt& interrupt, const Options& options) {
        const std::string folder = folder_of(set, options, interrupt);
        if (folder.empty()) {
          throw NotFound(
              fmt::format("dataset {0}: its files are not found; 'd5 data fetch {0}' fetches them, "
                          "data=DIR or D5_DATA_DIR, the folder above '{0}', says where they are",
                          set.name));
        }
        return open_mnist({folder, printable(folder)}, set, options, interrupt);
      });
}

/// The given or found files, otherwise the sample included in d5.
Origin mnist_origin(const IdxSet& set, const MnistOptions& options, const Interrupt& interrupt) {
  if (options.subset == Subset::sample && (options.download || !options.data.empty())) {
    throw ValueError(
        "dataset mnist: data and download are for the whole set, but subset=sample asks for the "
        "one that d5 carries; leave them out, or use a recipe with subset: whole (mnist-lenet)");
  }
  if (options.subset != Subset::sample) {
    const std::string folder = folder_of(set, options, interrupt);
    if (!folder.empty()) return {folder, printable(folder)};
  }
  if (options.subset == Subset::whole) {
    throw NotFound(
        "dataset mnist: the whole set is requested, but no folder is known; 'd5 data fetch mnist' "
        "or download=true fetches it; data=DIR, or D5_DATA_DIR for the folder above 'mnist', sets "
        "its place");
  }
  return {carried_file("data/mnist-sample"), "the sample that d5 carries"};
}

}  // namespace

namespace dataset {

void register_mnist(Registry<DatasetEntry>& registry) {
  const IdxSet mnist{"mnist", "MNIST"};
  registry.add(mnist.name, DatasetEntry::with<MnistOptions>(
                               "handwritten digits, 28x28, 10 classes, 60,000 + 10,000 (LeCun et "
                               "al., 1998); a sample comes with d5",
                               [mnist](const Interrupt& interrupt, const MnistOptions& options) {
                                 return open_mnist(mnist_origin(mnist, options, interrupt), mnist,
                                                   options, interrupt);
                               }));
  registry.add("fashion-mnist",
               entry_of<FashionOptions>({"fashion-mnist", "Fashion-MNIST"},
                                        "articles of clothing, as MNIST (Xiao et al., 2017)"));
  registry.add("kmnist",
               entry_of<KuzushijiOptions>({"kmnist", "Kuzushiji-MNIST"},
                                          "cursive Japanese letters, as MNIST (Clanuwat et al., "
                                          "2018)"));
}

}  // namespace dataset
}  // namespace d5
