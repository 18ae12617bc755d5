// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"
#include "level2_training/data/storage/mapped_file.hpp"

namespace d5::detail {

/// A file that is a sample, such as a JPEG, on disk or in an archive.
struct EncodedFile {
  std::string path;
  std::string name;  ///< for people: path relative to the data set's folder
  std::int64_t label = 0;
  std::shared_ptr<const MappedFile> archive = nullptr;
  std::string_view content = {};  ///< if it is in an archive
};

/// Field "image", a scalar of strings with the unchanged bytes of the files, and "label" int64.
class EncodedFiles final : public Dataset {
 public:
  /// `origin` is used in descriptions: "ImageNet files from FOLDER".
  EncodedFiles(std::string name, std::string origin, std::vector<EncodedFile> files)
      : name_(std::move(name)), origin_(std::move(origin)), files_(std::move(files)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string description() const override;
  /// Digest of names, sizes and labels of all files; reading all contents would take too long.
  [[nodiscard]] std::vector<Artefact> artefacts() const override;
  [[nodiscard]] std::int64_t size() const override { return std::int64_t(files_.size()); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override;
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view field) const override;
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override;

 private:
  std::string name_, origin_;
  std::vector<EncodedFile> files_;
  std::vector<Field> fields_{{"image", {DType::string, {}}}, {"label", {DType::int64, {}}}};
};

/// Regular files below `folder`, sorted by name, with relative paths. Only names with an extension
/// among `endings` (".jpeg"), ignoring case, and no clutter (`is_clutter`).
/// Throws: IoError, Interrupted.
[[nodiscard]] std::vector<EncodedFile> files_below(const std::string& folder,
                                                   const std::vector<std::string>& endings,
                                                   const Interrupt& interrupt);

/// The same for the tar archive `path`. Nested archives count as folders: files in its
/// "n01440764.tar" are called "n01440764/NAME".
/// Throws: FormatError with file and byte for a broken archive; Unsupported for a compressed one;
/// IoError; Interrupted.
[[nodiscard]] std::vector<EncodedFile> files_in_archive(const std::string& path,
                                                        const std::vector<std::string>& endings,
                                                        const Interrupt& interrupt);

/// Whether `name` has an extension among `endings`, ignoring case.
[[nodiscard]] bool ends_in(std::string name, const std::vector<std::string>& endings);

/// File name extensions of images.
[[nodiscard]] const std::vector<std::string>& image_endings();

/// The classes that `class_of` finds in the files' names, each once, sorted.
using ClassOf = std::function<std::string(const EncodedFile&)>;
[[nodiscard]] std::vector<std::string> classes_of(const std::vector<EncodedFile>& files,
                                                  const ClassOf& class_of);
/// Labels each file with the index of its class in `classes`. `who` begins messages.
/// Throws: FormatError for a file of another class.
void label_files(std::vector<EncodedFile>& files, const std::vector<std::string>& classes,
                 const ClassOf& class_of, const std::string& who);

}  // namespace d5::detail
