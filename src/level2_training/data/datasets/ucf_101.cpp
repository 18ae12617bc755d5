// SPDX-License-Identifier: Apache-2.0
// UCF101. Source: Soomro, Zamir and Shah, "UCF101: A Dataset of 101 Human Actions Classes From
// Videos in The Wild" (2012); its lists of files, "ucfTrainTestlist".
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <sstream>

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/published_data.hpp"
#include "d5/level2_training/data/subset.hpp"
#include "level2_training/data/video/video_clips.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using detail::ClipOptions;
using detail::LabelledVideo;
using Start = ClipOptions::Start;

struct UcfOptions : DatasetOptions {
  std::string data, lists;
  std::int64_t split = 1;
  ClipOptions clip{.start = Start::random};

  void declare(OptionList& options) {
    options.add("data", data,
                "folder with one folder per class, in which a video is v_NAME.avi or a folder "
                "v_NAME of its frames; default: where 'd5 data list' finds it",
                detail::path_text());
    options.add("lists", lists,
                "folder of classInd.txt, trainlist01.txt and so on; default: 'ucfTrainTestlist' in "
                "that folder or beside it",
                detail::path_text());
    options.add("split", split, "number of the train/test split, 1 to 3", {.least = 1, .most = 3});
    options.add("frames", clip.frames, "frames per clip", {.least = 1, .most = 65536});
    options.add("stride", clip.stride, "distance between successive frames of a clip",
                {.least = 1, .most = 65536});
    options.add("height", clip.height, "height of the frames, given with width; 0: the video's",
                {.least = 0, .most = 65536});
    options.add("width", clip.width, "width of the frames, given with height",
                {.least = 0, .most = 65536});
    options.add("start", clip.start,
                "position of a training clip: random, or in the middle, as for every test clip",
                {"random", "middle"});
    DatasetOptions::declare(options);
  }
};

/// The non-empty lines of a list, with their positions for messages.
std::vector<std::pair<std::string, std::string>> lines_of(const std::string& path) {
  std::istringstream text(read_file(path, memory_budget()));
  std::vector<std::pair<std::string, std::string>> lines;
  std::int64_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) lines.emplace_back(fmt::format("{}:{}", printable(path), number), line);
  }
  return lines;
}

std::int64_t number_in(std::string_view text, const std::string& place) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 1) return value;
  throw FormatError(
      fmt::format("{}: '{}' is not a class number, which counts from 1", place, printable(text)));
}

/// Maps class names to labels from 0; the lines are "1 ApplyEyeMakeup".
std::map<std::string, std::int64_t> read_classes(const std::string& path) {
  std::map<std::string, std::int64_t> classes;
  for (const auto& [place, line] : lines_of(path)) {
    const std::size_t gap = line.find(' ');
    if (gap == line.npos) {
      throw FormatError(fmt::format("{}: '{}', expected NUMBER CLASS", place, printable(line)));
    }
    const std::int64_t label = number_in(std::string_view(line).substr(0, gap), place) - 1;
    if (!classes.emplace(line.substr(gap + 1), label).second) {
      throw FormatError(
          fmt::format("{}: class '{}' comes twice", place, printable(line.substr(gap + 1))));
    }
  }
  return classes;
}

/// Reads lines "ApplyEyeMakeup/v_ApplyEyeMakeup_g08_c01.avi 1"; a test list has no labels.
std::vector<LabelledVideo> read_split(const std::string& path, const std::string& folder,
                                      const std::map<std::string, std::int64_t>& classes) {
  std::vector<LabelledVideo> videos;
  for (const auto& [place, line] : lines_of(path)) {
    const std::size_t gap = line.find(' ');
    const fs::path name = line.substr(0, gap);
    if (name.is_absolute() || name.lexically_normal().string().starts_with("..")) {
      throw FormatError(fmt::format("{}: '{}' leads out of the folder of videos", place,
                                    printable(name.string())));
    }
    const auto known = classes.find(name.parent_path().string());
    if (known == classes.end()) {
      throw FormatError(fmt::format("{}: '{}' is of class '{}', which classInd.txt does not have",
                                    place, printable(name.string()),
                                    printable(name.parent_path().string())));
    }
    if (gap != line.npos) {
      const std::int64_t label = number_in(std::string_view(line).substr(gap + 1), place) - 1;
      if (label != known->second) {
        throw FormatError(fmt::format("{}: class {} is written, but classInd.txt says {}", place,
                                      label + 1, known->second + 1));
      }
    }
    videos.push_back({.path = (fs::path(folder) / name).string(),
                      .name = name.string(),
                      .label = known->second});
  }
  return videos;
}

/// The folder of lists: the given one, or its place in the published archives.
std::string lists_of(const UcfOptions& options, const fs::path& folder) {
  if (!options.lists.empty()) return options.lists;
  std::error_code ignored;
  for (const fs::path& place :
       {folder, folder / "ucfTrainTestlist", folder.parent_path() / "ucfTrainTestlist"}) {
    if (fs::exists(place / "classInd.txt", ignored)) return place.string();
  }
  throw NotFound(fmt::format(
      "dataset ucf-101: there is no classInd.txt in '{}', nor in a folder 'ucfTrainTestlist' there "
      "or beside; lists=DIR says where the lists are",
      printable(folder.string())));
}

DatasetPair open_ucf_101(const Interrupt&, const UcfOptions& options) {
  const PublishedData& published = published_data().at("ucf-101");
  fs::path folder = options.data.empty() ? found_data("ucf-101") : options.data;
  if (folder.empty()) {
    throw NotFound(
        fmt::format("dataset ucf-101: its folder is not known; data=DIR, or D5_DATA_DIR, the "
                    "folder above '{}', says where it is. From {}: {}",
                    published.folder, published.source, published.by_hand));
  }
  if ((options.clip.height == 0) != (options.clip.width == 0)) {
    throw ValueError("dataset ucf-101: expected both height and width, or none of them");
  }
  std::error_code ignored;
  if (fs::is_directory(folder / "UCF-101", ignored)) folder /= "UCF-101";
  const fs::path lists = lists_of(options, folder);
  const auto classes = read_classes(lists / "classInd.txt");
  const auto part = [&](const std::string& word, Start start) {
    const fs::path list = lists / fmt::format("{}list{:02}.txt", word, options.split);
    ClipOptions clip = options.clip;
    clip.start = start;
    return std::make_shared<detail::VideoClips>(
        "ucf-101-" + word, "from " + printable(folder.string()),
        read_split(list.string(), folder.string(), classes), clip);
  };
  return options.parts_of({part("train", options.clip.start), part("test", Start::middle)});
}

}  // namespace

namespace dataset {

void register_ucf_101(Registry<DatasetEntry>& registry) {
  registry.add(
      "ucf-101",
      DatasetEntry::with<UcfOptions>(
          "video clips of 101 human actions, 9,537 + 3,783 (Soomro et al., 2012)", open_ucf_101));
}

}  // namespace dataset
}  // namespace d5
