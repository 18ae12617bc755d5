// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/screen/progress.hpp"
#include "d5/level2_training/data/container.hpp"
#include "level2_training/data/storage/mapped_file.hpp"
#include "level2_training/data/storage/shard_name.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// Files under temporary names, which all get their final names together; removed otherwise.
class PendingFiles {
 public:
  PendingFiles() = default;
  PendingFiles(const PendingFiles&) = delete;
  PendingFiles& operator=(const PendingFiles&) = delete;
  ~PendingFiles() {
    std::error_code ignored;
    for (const auto& path : paths_) {
      fs::remove(path, ignored);
      fs::remove(path + detail::kIndexSuffix, ignored);
    }
  }

  /// A temporary name for the next file.
  [[nodiscard]] std::string add(const std::string& path) {
    return paths_.emplace_back(fmt::format("{}.part-{:05}", path, paths_.size()));
  }
  [[nodiscard]] const std::string& last() const { return paths_.back(); }
  [[nodiscard]] std::size_t size() const { return paths_.size(); }

  /// Gives the files their final names. The old index is removed first and the new one is placed
  /// last, so that an index never belongs to another file.
  void take_names(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string index = names[i] + detail::kIndexSuffix;
      std::error_code error;
      fs::remove(index, error);
      if (!error) fs::rename(paths_[i], names[i], error);
      const std::string new_index = paths_[i] + detail::kIndexSuffix;
      if (!error && fs::exists(new_index)) fs::rename(new_index, index, error);
      if (error) {
        throw IoError(fmt::format("cannot replace '{}': {}", printable(names[i]), error.message()));
      }
    }
    paths_.clear();
  }

 private:
  std::vector<std::string> paths_;
};

/// Describes a complete file.
ContainerFile summed_up(const std::string& path, std::int64_t samples, const Interrupt& interrupt) {
  constexpr std::size_t kPiece = std::size_t{1} << 24;
  const detail::MappedFile file(path);
  detail::Sha256 sum;
  for (std::size_t at = 0; at < file.bytes().size(); at += kPiece) {
    interrupt.check(fmt::format("summing up '{}'", printable(path)));
    sum.add(file.bytes().substr(at, kPiece));
  }
  return {.path = path, .samples = samples, .bytes = file.bytes().size(), .sha256 = sum.digest()};
}

/// Whether the file that holds samples [begin, index) is full.
bool is_full(const ConvertOptions& options, std::int64_t samples, std::size_t files,
             std::int64_t begin, std::int64_t index, std::size_t bytes) {
  if (options.shards > 0) {
    // If `samples` do not divide evenly, the first files hold one more.
    const std::int64_t each = samples / options.shards, more = samples % options.shards;
    return index - begin >= each + (std::int64_t(files) <= more ? 1 : 0);
  }
  if (options.shard_samples > 0) return index - begin >= options.shard_samples;
  return options.shard_bytes > 0 && bytes >= options.shard_bytes;
}

void check(const Dataset& dataset, const Container& container, const std::string& path,
           const ConvertOptions& options) {
  const int limits =
      int(options.shards != 0) + int(options.shard_samples != 0) + int(options.shard_bytes != 0);
  if (limits > 1 || options.shards < 0 || options.shard_samples < 0) {
    throw ValueError(fmt::format(
        "converting '{}': {} shards, {} samples and {} bytes a shard were asked for; one of them "
        "spreads the samples, and none is negative",
        printable(dataset.name()), options.shards, options.shard_samples, options.shard_bytes));
  }
  if (options.shards > std::max<std::int64_t>(1, dataset.size())) {
    throw ValueError(fmt::format("converting '{}': {} shards are asked for, but it has {} samples",
                                 printable(dataset.name()), options.shards, dataset.size()));
  }
  const std::string extension = "." + container.extension();
  if (!path.ends_with(extension)) {
    throw ValueError(fmt::format("converting '{}': '{}' does not end in {}, as its files do",
                                 printable(dataset.name()), printable(path), extension));
  }
}

/// Names of `count` files.
std::vector<std::string> names_of(const std::string& path, const ConvertOptions& options,
                                  std::size_t count) {
  const bool is_sharded =
      options.shards > 0 || options.shard_samples > 0 || options.shard_bytes > 0;
  if (!is_sharded) return {path};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(detail::shard_name(path, i, count));
  return names;
}

/// Refuses files that would make `path` ambiguous: shards of another number, or shards beside a
/// single file.
void check_way(const std::string& path, const std::vector<std::string>& names) {
  std::vector<std::string> there = detail::shards_of(path);
  std::error_code ignored;
  if (fs::exists(path, ignored)) there.push_back(path);
  for (const auto& file : there) {
    if (std::ranges::find(names, file) != names.end()) continue;
    throw IoError(
        fmt::format("'{}' is in the way: '{}' would stand for it, too; take it away, or give "
                    "another name",
                    printable(file), printable(path)));
  }
}

}  // namespace

std::vector<ContainerFile> convert(const Dataset& dataset, std::string_view container,
                                   const std::string& path, const ConvertOptions& options) {
  const std::string name = container.empty() ? container_of(path) : std::string(container);
  const auto format = containers().at(name).make(options.settings);
  check(dataset, *format, path, options);
  const std::int64_t samples = dataset.size();
  if (options.shard_bytes == 0) {
    // The number of files is known in advance, so this check precedes the work.
    const std::int64_t each = std::max<std::int64_t>(1, options.shard_samples);
    const std::int64_t by_samples = std::max<std::int64_t>(1, (samples + each - 1) / each);
    check_way(path, names_of(path, options,
                             std::size_t(options.shards > 0 ? options.shards : by_samples)));
  }
  PendingFiles files;
  std::vector<ContainerFile> written;
  std::unique_ptr<ContainerWriter> writer;
  std::int64_t begin = 0;  // first sample of the current file
  const auto next_file = [&] { writer = format->create(files.add(path), dataset.fields()); };
  const auto end_file = [&](std::int64_t end) {
    writer->finish();
    writer.reset();
    written.push_back(summed_up(files.last(), end - begin, options.interrupt));
    begin = end;
  };
  std::optional<Progress> progress;
  if (options.shows_progress) progress.emplace(path, samples, ProgressOptions{.unit = "samples"});

  next_file();
  std::vector<Tensor> sample = empty_batch(dataset, 1);
  for (std::int64_t index = 0; index < samples; ++index) {
    options.interrupt.check(fmt::format("writing '{}'", printable(path)));
    if (is_full(options, samples, files.size(), begin, index, writer->bytes())) {
      end_file(index);
      next_file();
    }
    dataset.read(std::span(&index, 1), options.draw, sample);
    writer->add(dataset.sample_name(index), sample);
    if (progress) progress->advance();
  }
  end_file(samples);

  const auto names = names_of(path, options, files.size());
  check_way(path, names);
  files.take_names(names);
  for (std::size_t i = 0; i < names.size(); ++i) written[i].path = names[i];
  return written;
}

}  // namespace d5
