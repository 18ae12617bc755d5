// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/dataset_samples.hpp"

#include <fmt/format.h>

#include <numeric>

#include "core/files/files_read.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/subset.hpp"
#include "evaluation/manifest/held_samples.hpp"
#include "evaluation/manifest/manifest_paths.hpp"
#include "evaluation/manifest/sample_places.hpp"

namespace d5 {
namespace {

/// Files with digests. Fields: "image", or the modality's name, a scalar string; and "label".
class ManifestSamples final : public Dataset {
 public:
  explicit ManifestSamples(DatasetManifest manifest)
      : manifest_(std::move(manifest)),
        places_(manifest_),
        fields_{{manifest_.modality, {DType::string, {}}}, {"label", {DType::int64, {}}}} {}

  [[nodiscard]] std::string name() const override { return manifest_.name; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} files of {}", size(), manifest_.reference());
  }
  [[nodiscard]] std::vector<Artefact> artefacts() const override {
    for (const SampleFile& sample : manifest_.samples) {
      detail::FilesRead::note(places_.path_of(sample));
    }
    return {{.name = manifest_.name, .version = manifest_.version, .sha256 = digest_of(manifest_)}};
  }
  [[nodiscard]] std::int64_t size() const override {
    return std::int64_t(manifest_.samples.size());
  }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override {
    return manifest_.samples.at(std::size_t(index)).file;
  }
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view field) const override {
    if (field != "label") return Dataset::labels(field);
    std::vector<std::int64_t> labels;
    for (const SampleFile& sample : manifest_.samples) labels.push_back(sample.label);
    return labels;
  }

  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      if (indices[row] < 0 || indices[row] >= size()) {
        throw ValueError(fmt::format("dataset '{}': sample {}, expected 0 to {}", name(),
                                     indices[row], size() - 1));
      }
      const SampleFile& sample = manifest_.samples[std::size_t(indices[row])];
      batch[0].data<std::string>()[row] = checked_content(sample);
      batch[1].data<std::int64_t>()[row] = sample.label;
    }
  }

 private:
  [[nodiscard]] std::string checked_content(const SampleFile& sample) const {
    const std::string path = places_.path_of(sample);
    std::string bytes = read_file(path, std::size_t(sample.bytes) + 1);
    const std::string digest = detail::sha256(bytes);
    if (digest == sample.sha256) return bytes;
    throw FormatError(fmt::format("'{}' has {} bytes of SHA-256 {}, but {} says {} of {}",
                                  printable(path), bytes.size(), digest, manifest_.reference(),
                                  sample.bytes, sample.sha256));
  }

  DatasetManifest manifest_;
  detail::SamplePlaces places_;
  std::vector<Field> fields_;
};

std::shared_ptr<const Dataset> all_samples(const DatasetManifest& manifest,
                                           const Interrupt& interrupt) {
  if (manifest.reader.empty()) {
    return std::make_shared<ManifestSamples>(manifest);
  }
  const EntryChoice reader = detail::located_reader(manifest);
  const auto held = detail::held_samples(reader);
  const DatasetPair pair = held ? *held : open_dataset(reader.name, reader.settings, interrupt);
  auto part = manifest.part == "train" ? pair.train : pair.test;
  if (part) return part;
  throw NotFound(fmt::format("data set {}: {} has no part '{}'", manifest.reference(),
                             printable(reader.name), manifest.part));
}

}  // namespace

std::shared_ptr<const Dataset> open_samples(const DatasetManifest& manifest,
                                            const std::string& split, const Interrupt& interrupt) {
  auto samples = all_samples(manifest, interrupt);
  if (split.empty()) return samples;
  std::vector<std::string> known;
  for (const DatasetSplit& one : manifest.splits) {
    known.push_back(one.name);
    if (one.name != split) continue;
    if (one.first + one.count > samples->size()) {
      throw ValueError(fmt::format("data set {}: split '{}' ends at sample {}, but there are {}",
                                   manifest.reference(), split, one.first + one.count,
                                   samples->size()));
    }
    std::vector<std::int64_t> indices(std::size_t(one.count));
    std::iota(indices.begin(), indices.end(), one.first);
    return std::make_shared<SubsetDataset>(std::move(samples), std::move(indices));
  }
  throw_unknown_name("split of " + manifest.reference(), split, known);
}

}  // namespace d5
