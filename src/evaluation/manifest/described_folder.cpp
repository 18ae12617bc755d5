// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/described_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/files/clutter.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "evaluation/manifest/manifest_name.hpp"
#include "evaluation/manifest/manifest_paths.hpp"
#include "evaluation/manifest/yaml_scalar.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// Entries of a folder by name, without clutter (`is_clutter`).
std::vector<fs::path> visible_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!detail::is_clutter(at->path().filename().string())) paths.push_back(at->path());
  }
  if (error) {
    throw IoError(fmt::format("{}: {}; expected a folder of samples", printable(folder.string()),
                              error.message()));
  }
  std::ranges::sort(paths);
  return paths;
}

/// Name of a folder: "flowers", also for "/data/flowers/" and "." in it.
std::string last_name(const fs::path& folder) {
  return detail::manifest_name(fs::canonical(folder).filename().string(), "data");
}

/// The folder in the form of `DatasetManifest::folder`.
std::string below_places(const std::string& folder) {
  const char* data = std::getenv("D5_DATA_DIR");
  if (data && *data) {
    std::string below = detail::name_below_places(folder, data);
    if (!fs::path(below).is_absolute()) return below;
  }
  return detail::name_below_places(folder, ".");
}

/// Lines of a manifest's samples.
struct SampleLines {
  const fs::path folder;
  std::string text = {};
  bool are_texts = true;  ///< all files are .txt

  void add(const fs::path& path, std::size_t label) {
    const std::string digest = detail::sha256_of_file(path.string());
    text += fmt::format("- {{file: {}, label: {}, bytes: {}, sha256: {}}}\n",
                        detail::yaml_scalar(path.lexically_relative(folder).generic_string()),
                        label, fs::file_size(path), digest);
    are_texts = are_texts && path.extension() == ".txt";
  }
};

}  // namespace

std::string described_folder(const std::string& folder, const std::string& name) {
  std::string labels;
  SampleLines samples{folder};
  std::size_t label = 0;
  for (const fs::path& one : visible_in(folder)) {
    if (!fs::is_directory(one)) continue;
    const auto files = visible_in(one);
    if (files.empty()) continue;  // an empty class, as for the data set "files"
    labels += (labels.empty() ? "" : ", ") + detail::yaml_scalar(one.filename().string());
    for (const fs::path& file : files) {
      if (fs::is_directory(file)) {
        throw ValueError(fmt::format("{} is a nested folder in a class; expected files",
                                     printable(file.string())));
      }
      samples.add(file, label);
    }
    ++label;
  }
  if (labels.empty()) {
    for (const fs::path& file : visible_in(folder)) {
      if (!fs::is_directory(file)) samples.add(file, 0);
    }
  }
  if (samples.text.empty()) {
    throw ValueError(fmt::format("{} has no files; expected samples, in a folder for each class",
                                 printable(folder)));
  }
  return fmt::format(
      "kind: dataset\nname: {}\nversion: 1.0.0-dev\ntask: {} classification\nlicence: "
      "LicenseRef-unknown\n{}folder: {}\n{}samples:\n{}",
      name.empty() ? last_name(folder) : name, samples.are_texts ? "text" : "image",
      samples.are_texts ? "modality: text\n" : "", detail::yaml_scalar(below_places(folder)),
      labels.empty() ? "" : fmt::format("labels: [{}]\n", labels), samples.text);
}

}  // namespace d5
