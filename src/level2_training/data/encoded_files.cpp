// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/encoded_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/files/clutter.hpp"
#include "core/files/files_read.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "level2_training/data/batch_check.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// Reads a whole file into memory reused from the previous sample.
void read_into(const std::string& path, std::string& bytes) {
  const auto fail = [&](const std::string& what) {
    throw IoError(fmt::format("cannot read '{}': {}", printable(path), what));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(std::strerror(errno));
  struct Closer {
    ~Closer() { ::close(file); }
    int file;
  } const closer{file};
  struct stat status{};
  if (::fstat(file, &status) != 0) fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail("is not a file");
  if (std::size_t(status.st_size) > memory_budget()) fail("is larger than the memory budget");
  bytes.resize(std::size_t(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(std::strerror(errno));
    if (got == 0) fail(fmt::format("ends after {} of {} bytes", done, bytes.size()));
    done += std::size_t(got);
  }
}

}  // namespace

std::string EncodedFiles::description() const { return fmt::format("{} {}", size(), origin_); }

std::vector<Artefact> EncodedFiles::artefacts() const {
  Sha256 sum;
  const MappedFile* archive = nullptr;
  for (const auto& file : files_) {
    std::error_code absent;
    if (!file.archive) FilesRead::note(file.path);
    if (file.archive.get() != archive) FilesRead::note(file.archive->path());
    archive = file.archive.get();
    const auto bytes = file.archive ? file.content.size() : fs::file_size(file.path, absent);
    // Lengths separate neighbours.
    sum.add(
        fmt::format("{} {} {} {}\n", file.name.size(), file.name, absent ? 0 : bytes, file.label));
  }
  return {{.name = name_, .version = description(), .sha256 = sum.digest()}};
}

std::string EncodedFiles::sample_name(std::int64_t index) const {
  check_index(*this, index);
  return files_[std::size_t(index)].name;
}

std::vector<std::int64_t> EncodedFiles::labels(std::string_view field) const {
  if (field != "label") return Dataset::labels(field);  // throws the error
  std::vector<std::int64_t> all;
  all.reserve(files_.size());
  for (const auto& file : files_) all.push_back(file.label);
  return all;
}

void EncodedFiles::read(std::span<const std::int64_t> indices, const Draw&,
                        std::span<Tensor> batch) const {
  check_batch(*this, indices, batch);
  std::string* image = batch[0].data<std::string>();
  std::int64_t* label = batch[1].data<std::int64_t>();
  for (const std::int64_t index : indices) {
    const EncodedFile& file = files_[std::size_t(index)];
    if (file.archive) {
      image->assign(file.content);
    } else {
      read_into(file.path, *image);
    }
    ++image;
    *label++ = file.label;
  }
}

bool ends_in(std::string name, const std::vector<std::string>& endings) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(endings, [&](const auto& end) { return name.ends_with(end); });
}

std::vector<EncodedFile> files_below(const std::string& folder,
                                     const std::vector<std::string>& endings,
                                     const Interrupt& interrupt) {
  std::vector<EncodedFile> files;
  std::error_code error;
  fs::recursive_directory_iterator place(folder, fs::directory_options::follow_directory_symlink,
                                         error);
  for (; !error && place != fs::recursive_directory_iterator(); place.increment(error)) {
    interrupt.check(fmt::format("listing '{}'", printable(folder)));
    constexpr int kDeepest = 32;  // a link that leads back up would go on for ever
    if (place.depth() >= kDeepest) place.disable_recursion_pending();
    std::error_code ignored;
    const fs::path& path = place->path();
    if (is_clutter(path.filename().string())) {
      place.disable_recursion_pending();
      continue;
    }
    if (!ends_in(path.filename().string(), endings) || !fs::is_regular_file(path, ignored))
      continue;
    files.push_back({path.string(), path.lexically_relative(folder).string()});
  }
  if (error) {
    throw IoError(fmt::format("cannot list '{}': {}", printable(folder), error.message()));
  }
  std::ranges::sort(files, {}, &EncodedFile::name);
  return files;
}

const std::vector<std::string>& image_endings() {
  static const std::vector<std::string> endings{".jpeg", ".jpg", ".png",  ".bmp",  ".ppm", ".pgm",
                                                ".pbm",  ".tif", ".tiff", ".webp", ".jp2"};
  return endings;
}

std::vector<std::string> classes_of(const std::vector<EncodedFile>& files,
                                    const ClassOf& class_of) {
  std::vector<std::string> classes;
  for (const auto& file : files) {
    std::string name = class_of(file);
    if (classes.empty() || classes.back() != name) classes.push_back(std::move(name));
  }
  std::ranges::sort(classes);
  const auto twice = std::ranges::unique(classes);
  classes.erase(twice.begin(), twice.end());
  return classes;
}

void label_files(std::vector<EncodedFile>& files, const std::vector<std::string>& classes,
                 const ClassOf& class_of, const std::string& who) {
  for (auto& file : files) {
    const std::string name = class_of(file);
    const auto place = std::ranges::lower_bound(classes, name);
    if (place == classes.end() || *place != name) {
      throw FormatError(
          fmt::format("{}: '{}' is of class '{}', which none of the {} training classes is", who,
                      printable(file.path), printable(name), classes.size()));
    }
    file.label = place - classes.begin();
  }
}

}  // namespace d5::detail
