// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/held_samples.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <mutex>
#include <vector>

#include "core/files/files_read.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "evaluation/manifest/manifest_paths.hpp"

namespace d5 {
namespace {

constexpr double kMostSeconds = 60;  // files may appear where a reader looks first
constexpr double kPatience = 5;      // s to open one; a waiting caller cannot be interrupted

bool is_same(const EntryChoice& a, const EntryChoice& b) {
  return a.name == b.name && a.settings.values() == b.settings.values();
}

struct HeldReader {
  EntryChoice reader;
  DatasetPair samples;
  std::vector<detail::FileStamp> files;
  double since = 0;

  [[nodiscard]] bool is_of(const EntryChoice& other) const { return is_same(reader, other); }
  [[nodiscard]] bool is_right() const {
    return now_seconds() - since < kMostSeconds &&
           std::ranges::all_of(files, [](const auto& file) { return file.is_as_it_was(); });
  }
};

auto held_of(std::vector<HeldReader>& readers, const EntryChoice& reader) {
  return std::ranges::find_if(readers, [&](const auto& one) { return one.is_of(reader); });
}

struct AllHeld {
  std::mutex mutex;
  std::vector<HeldReader> readers;
  std::vector<EntryChoice> slow;  ///< not tried again
};
AllHeld& all_held() {
  static AllHeld all;
  return all;
}

/// Whether all files that the data set names are among those that opening it has read.
bool were_read(const std::shared_ptr<const Dataset>& samples,
               const std::vector<detail::FileStamp>& files) {
  return !samples || std::ranges::all_of(samples->artefacts(), [&](const Artefact& artefact) {
    return std::ranges::any_of(files, [&](const detail::FileStamp& file) {
      return std::filesystem::path(file.path()).filename() == artefact.name;
    });
  });
}

std::optional<HeldReader> opened(const EntryChoice& reader, std::vector<EntryChoice>& slow) {
  const bool was_slow =
      std::ranges::any_of(slow, [&](const auto& other) { return is_same(reader, other); });
  if (was_slow || reader.settings.has("download")) return std::nullopt;
  try {
    DatasetPair samples;
    std::vector<detail::FileStamp> files;
    {
      const detail::FilesRead read;
      samples = open_dataset(reader.name, reader.settings, {.deadline = now_seconds() + kPatience});
      files = read.stamps();
    }
    if (!were_read(samples.train, files) || !were_read(samples.test, files)) return std::nullopt;
    return HeldReader{reader, std::move(samples), std::move(files), now_seconds()};
  } catch (const Interrupted&) {
    slow.push_back(reader);
  } catch (const std::exception&) {  // opening it reports the error
  }
  return std::nullopt;
}

/// The readers whose files are there; opening the others reports what is missing.
std::vector<EntryChoice> readers_of(const std::vector<DatasetManifest>& manifests) {
  std::vector<EntryChoice> readers;
  for (const DatasetManifest& manifest : manifests) {
    if (manifest.reader.empty()) continue;
    try {
      readers.push_back(detail::located_reader(manifest));
    } catch (const NotFound&) {
    }
  }
  return readers;
}

}  // namespace

namespace detail {

std::optional<DatasetPair> held_samples(const EntryChoice& reader) {
  AllHeld& all = all_held();
  const std::scoped_lock lock(all.mutex);
  const auto found = held_of(all.readers, reader);
  if (found == all.readers.end() || !found->is_right()) return std::nullopt;
  return found->samples;
}

}  // namespace detail

void hold_samples(const std::vector<DatasetManifest>& manifests) {
  AllHeld& all = all_held();
  const std::scoped_lock lock(all.mutex);
  std::vector<HeldReader> before = std::exchange(all.readers, {});
  for (const EntryChoice& reader : readers_of(manifests)) {
    if (held_of(all.readers, reader) != all.readers.end()) continue;
    const auto there = held_of(before, reader);
    if (there != before.end() && there->is_right()) {
      all.readers.push_back(*there);
    } else {
      // Frees the memory before the next one takes as much.
      if (there != before.end()) before.erase(there);
      if (auto one = opened(reader, all.slow)) all.readers.push_back(std::move(*one));
    }
  }
}

}  // namespace d5
