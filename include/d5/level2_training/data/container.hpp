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

/// Writes one file of samples.
class ContainerWriter {
 public:
  virtual ~ContainerWriter() = default;
  /// Appends a sample as `Dataset::read` returns it: tensors of {1, the sample's shape...}.
  /// Throws: Unsupported for data that the format cannot store; IoError; MemoryError.
  virtual void add(const std::string& name, std::span<const Tensor> sample) = 0;
  /// Approximate size of the file if it ended here.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// Completes the file; called once, after the last sample. Without this call no file is left.
  virtual void finish() = 0;
};

/// A file format for samples with random access. Fields of a sample (names, types, shapes), its
/// name and each of its bytes are restored exactly.
///
/// Thread safety: all members.
class Container {
 public:
  virtual ~Container() = default;
  /// File name extension: "tar".
  [[nodiscard]] virtual std::string extension() const = 0;
  /// Opens the samples of `files`, one file after another.
  /// Throws: IoError, FormatError with file and place, Unsupported, Interrupted.
  [[nodiscard]] virtual std::shared_ptr<const Dataset> open(const std::vector<std::string>& files,
                                                            const Interrupt& interrupt) const = 0;
  /// Begins the file `path`. A companion file is called `path` + ".index".
  /// Throws: Unsupported for fields that the format cannot store, with the format that can;
  /// IoError.
  [[nodiscard]] virtual std::unique_ptr<ContainerWriter> create(
      const std::string& path, const std::vector<Dataset::Field>& fields) const = 0;
};

using ContainerEntry = Entry<std::shared_ptr<const Container>()>;

/// Registered containers by name.
[[nodiscard]] Registry<ContainerEntry>& containers();

/// Name of the container for the extension of `path`: "tar" for "train.tar" and "train.tar.gz"; for
/// a folder, by its files.
/// Throws: NotFound for an unknown extension, and for a folder with files of no container or of
/// several.
[[nodiscard]] std::string container_of(const std::string& path);

/// Files that `path` names: the file itself; all shards of "train.tar" if these are
/// "train-00000-of-00004.tar" to "train-00003-of-00004.tar"; a folder's files that end in
/// ".EXTENSION" or ".EXTENSION.gz"; or files that match a pattern with '*', '?' or '[...]', sorted
/// by name.
/// Throws: NotFound if there is none; FormatError if shards are missing, or belong to two sets.
[[nodiscard]] std::vector<std::string> container_files(const std::string& path,
                                                       std::string_view extension);

/// Opens the files that `path` names. If `container` is empty, the extension decides
/// (`container_of`).
///
///     auto train = open_container("tar", "imagenet/train.tar");
///
/// Throws: NotFound, and what opening throws.
[[nodiscard]] std::shared_ptr<const Dataset> open_container(std::string_view container,
                                                            const std::string& path,
                                                            const Settings& settings = {},
                                                            const Interrupt& interrupt = {});

/// Options for writing samples to files. Without a limit all go to one file with the given name;
/// with one to "train-00000-of-00004.tar" and so on, even if there is only one.
struct ConvertOptions {
  std::int64_t shards = 0;         ///< number of files; their numbers of samples differ by at most
                                   ///< 1
  std::int64_t shard_samples = 0;  ///< limit on the samples of a file
  std::size_t shard_bytes = 0;     ///< a file ends with the sample that reaches this size
  Settings settings = {};          ///< settings of the container
  Draw draw = {};                  ///< seed and epoch of random steps
  bool shows_progress = false;     ///< on the standard error stream
  Interrupt interrupt = {};
};

/// A written file.
struct ContainerFile {
  std::string path;
  std::int64_t samples = 0;
  std::size_t bytes = 0;
  std::string sha256;  ///< digest of the whole file
};

/// Writes all samples of `dataset`, in order, to the file `path` or to shards of it. Returns the
/// files. They get their final names when all are written; an interrupted or failed conversion
/// leaves earlier files as they were. If `container` is empty, the extension of `path` decides.
///
///     convert(*mnist.train, "tfrecord", "mnist/train.tfrecord", {.shards = 8});
///
/// Throws: ValueError for two kinds of limits, or for a `path` without the container's extension;
/// IoError if other shards are in the way; Unsupported; Interrupted; what reading throws.
std::vector<ContainerFile> convert(const Dataset& dataset, std::string_view container,
                                   const std::string& path, const ConvertOptions& options = {});

/// Parses a data set in one word of a command line: NAME[:KEY=VALUE]..., or FILE[:KEY=VALUE]... for
/// a container. A file becomes the data set "container" with the file as its training part.
///
///     dataset_of_words("train.tar:format.fields=jpg,cls")
///
/// Throws: ValueError for a setting without "=".
[[nodiscard]] EntryChoice dataset_of_words(const std::string& text);

/// Opens one part, "train" or "test", of the data set that such a word names.
/// Throws: NotFound if it has no such part; what opening throws.
[[nodiscard]] std::shared_ptr<const Dataset> open_part(const std::string& text,
                                                       const std::string& part,
                                                       const Interrupt& interrupt = {});

}  // namespace d5
