// SPDX-License-Identifier: Apache-2.0
// Image files of the user: folders of classes, or a list of files.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/subset.hpp"
#include "level2_training/data/encoded_files.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using detail::EncodedFile;

struct FilesOptions : DatasetOptions {
  std::string data, test;
  std::int64_t classes = 0;

  void declare(OptionList& options) {
    options.add("data", data,
                "a folder with one folder per class, or a text file of lines 'PATH LABEL' with "
                "paths relative to it",
                detail::path_text());
    options.add("test", test, "test part, likewise; default: none", detail::path_text());
    options.add("classes", classes,
                "number of classes of a list, whose labels must be below it; 0: as many as occur",
                {.least = 0});
    DatasetOptions::declare(options);
  }
};

/// The first folder below the data set's folder.
std::string class_of(const EncodedFile& file) {
  const fs::path name(file.name);
  if (name.has_parent_path()) return name.begin()->string();
  throw FormatError(
      fmt::format("dataset files: '{}' is in no class's folder", printable(file.path)));
}

/// Parses a path, which may contain spaces, and the label after the last space.
EncodedFile parse_line(std::string_view line, const std::string& place, std::int64_t classes) {
  const auto fail = [&](const std::string& what) {
    throw FormatError(fmt::format("{}: {}; expected PATH LABEL", place, what));
  };
  const std::size_t end = line.find_last_not_of(" \t\r");
  const std::size_t gap = line.find_last_of(" \t", end);
  if (gap == std::string_view::npos ||
      line.find_last_not_of(" \t", gap) == std::string_view::npos) {
    fail(fmt::format("'{}' has no label", printable(line)));
  }
  const std::string_view word = line.substr(gap + 1, end - gap);
  EncodedFile file{.path = {},
                   .name = std::string(line.substr(0, line.find_last_not_of(" \t", gap) + 1))};
  const auto [rest, error] = std::from_chars(word.begin(), word.end(), file.label);
  if (error != std::errc() || rest != word.end() || file.label < 0) {
    fail(fmt::format("label '{}' is not a number of at least 0", printable(word)));
  }
  if (classes > 0 && file.label >= classes) {
    fail(fmt::format("label {}, but labels are 0 to {} (classes={})", file.label, classes - 1,
                     classes));
  }
  if (file.name.find('\0') != std::string::npos) fail("the path has a byte 0");
  return file;
}

std::vector<EncodedFile> read_list(const std::string& path, std::int64_t classes,
                                   const Interrupt& interrupt) {
  const std::string text = read_file(path, memory_budget(), interrupt);
  const fs::path folder = fs::path(path).parent_path();
  std::vector<EncodedFile> files;
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    interrupt.check(fmt::format("reading '{}'", printable(path)));
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    files.push_back(parse_line(line, fmt::format("{}:{}", printable(path), number), classes));
    files.back().path = (folder / files.back().name).string();
  }
  return files;
}

DatasetPair open_files(const Interrupt& interrupt, const FilesOptions& options) {
  if (options.data.empty()) {
    throw ValueError(
        "dataset files: data=PATH is missing: a folder of classes, or a list of files");
  }
  std::vector<std::string> classes;
  const auto part = [&](const char* name, const std::string& path) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(path, ignored);
    std::vector<EncodedFile> files =
        is_folder ? detail::files_below(path, detail::image_endings(), interrupt)
                  : read_list(path, options.classes, interrupt);
    if (files.empty()) {
      throw NotFound(fmt::format("dataset files: '{}' holds no images", printable(path)));
    }
    if (is_folder) {
      if (classes.empty()) classes = detail::classes_of(files, class_of);
      detail::label_files(files, classes, class_of, "dataset files");
    }
    return std::make_shared<detail::EncodedFiles>(name, "files from " + printable(path),
                                                  std::move(files));
  };
  DatasetPair pair{part("files-train", options.data), nullptr};
  if (!options.test.empty()) pair.test = part("files-test", options.test);
  return options.parts_of(std::move(pair));
}

}  // namespace

namespace dataset {

void register_files(Registry<DatasetEntry>& registry) {
  registry.add("files",
               DatasetEntry::with<FilesOptions>(
                   "image files of your own: one folder per class, or a list", open_files));
}

}  // namespace dataset
}  // namespace d5
