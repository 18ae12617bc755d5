// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// One file of samples while it is written.
class ContainerWriter {
 public:
  virtual ~ContainerWriter() = default;
  /// The next sample, as `Dataset::read` gives one: tensors of {1, the sample's shape...}.
  /// Throws: Unsupported for what the format cannot keep, IoError, MemoryError.
  virtual void add(const std::string& name, std::span<const Tensor> sample) = 0;
  /// What the file would hold if it ended here; about.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// Called once, after the last sample: the file is there, whole. Without it, there is none.
  virtual void finish() = 0;
};

/// A format of files that hold samples, read at random: what a sample's fields are (names, types,
/// shapes), what it is called and each of its bytes come back as they were written.
///
/// Thread safety: all of it.
class Container {
 public:
  virtual ~Container() = default;
  /// How its files' names end: "tar".
  [[nodiscard]] virtual std::string extension() const = 0;
  /// The samples of `files`, one file after another.
  /// Throws: IoError, FormatError with file and place, Unsupported, Interrupted.
  [[nodiscard]] virtual std::shared_ptr<const Dataset> open(const std::vector<std::string>& files,
                                                            const Interrupt& interrupt) const = 0;
  /// Begins the file `path`. What it needs beside it is called `path` + ".index".
  /// Throws: Unsupported for fields that the format cannot keep, with the one that can; IoError.
  [[nodiscard]] virtual std::unique_ptr<ContainerWriter> create(
      const std::string& path, const std::vector<Dataset::Field>& fields) const = 0;
};

using ContainerEntry = Entry<std::shared_ptr<const Container>()>;

/// All containers by name.
[[nodiscard]] Registry<ContainerEntry>& containers();

/// The name of the container whose files end as `path` does: "tar" of "train.tar" and of
/// "train.tar.gz"; of a folder, as its files do.
/// Throws: NotFound for an ending that is no container's, a folder with files of none or of
/// several.
[[nodiscard]] std::string container_of(const std::string& path);

/// The files that `path` stands for: itself; all shards of "train.tar" where these are
/// "train-00000-of-00004.tar" to "train-00003-of-00004.tar"; a folder's files that end in
/// ".EXTENSION" or ".EXTENSION.gz", and those that a pattern with '*', '?' or '[...]' fits, by
/// name.
/// Throws: NotFound where there is none; FormatError where shards are missing, or of two sets.
[[nodiscard]] std::vector<std::string> container_files(const std::string& path,
                                                       std::string_view extension);

/// Opens what `path` stands for. Without a `container` its ending tells (`container_of`).
///
///     auto train = open_container("tar", "imagenet/train.tar");
///
/// Throws: NotFound, and what opening throws.
[[nodiscard]] std::shared_ptr<const Dataset> open_container(std::string_view container,
                                                            const std::string& path,
                                                            const Settings& settings = {},
                                                            const Interrupt& interrupt = {});

/// How samples are spread over files. Without a limit they are in one, which is called what was
/// asked for; with one in "train-00000-of-00004.tar" and so on, even if there is only one.
struct ConvertOptions {
  std::int64_t shards = 0;         ///< so many files, whose numbers of samples differ by 1 at most
  std::int64_t shard_samples = 0;  ///< no more in a file
  std::size_t shard_bytes = 0;     ///< a file ends with the sample that reaches it
  Settings settings = {};          ///< of the container
  Draw draw = {};                  ///< what is random about samples is drawn so
  bool shows_progress = false;     ///< on the standard error stream
  Interrupt interrupt = {};
};

/// One file that was written.
struct ContainerFile {
  std::string path;
  std::int64_t samples = 0;
  std::size_t bytes = 0;
  std::string sha256;  ///< of all its bytes
};

/// Writes all samples of `dataset`, in their order, into the file `path`, or into shards of it.
/// Returns the files. They take their names when all are written: an interrupted or failed
/// conversion leaves what was there before. Without a `container` the ending of `path` tells.
///
///     convert(*mnist.train, "tfrecord", "mnist/train.tfrecord", {.shards = 8});
///
/// Throws: ValueError for two ways to spread them, a container's extension that `path` lacks;
/// IoError where other shards are in the way; Unsupported, Interrupted, and what reading throws.
std::vector<ContainerFile> convert(const Dataset& dataset, std::string_view container,
                                   const std::string& path, const ConvertOptions& options = {});

/// A data set as one word of a command line: NAME[:KEY=VALUE]..., or FILE[:KEY=VALUE]... of a
/// container, which is the data set "container" with it as its training part.
///
///     dataset_of_words("train.tar:format.fields=jpg,cls")
///
/// Throws: ValueError for a setting without "=".
[[nodiscard]] EntryChoice dataset_of_words(const std::string& text);

/// One part, "train" or "test", of the data set that such a word names.
/// Throws: NotFound where it has no such part, and what opening it throws.
[[nodiscard]] std::shared_ptr<const Dataset> open_part(const std::string& text,
                                                       const std::string& part,
                                                       const Interrupt& interrupt = {});

}  // namespace d5
