// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/container.hpp"
#include "level2_training/data/storage/columns.hpp"
#include "level2_training/data/storage/field_words.hpp"
#include "level2_training/data/storage/safetensors.hpp"
#include "level2_training/data/storage/unpacked_file.hpp"

namespace d5 {
namespace {

constexpr const char *kFormat = "d5 samples", *kVersion = "1";

class RawWriter final : public ContainerWriter {
 public:
  RawWriter(const std::string& path, const std::vector<Dataset::Field>& fields)
      : who_(fmt::format("'{}'", printable(path))),
        fields_(detail::to_json(fields)),
        columns_(who_, fields),
        file_(path) {}

  void add(const std::string& name, std::span<const Tensor> sample) override {
    columns_.add(name, sample);
  }
  [[nodiscard]] std::size_t bytes() const override { return columns_.bytes(); }
  void finish() override {
    const auto columns = columns_.finish();
    std::vector<detail::TensorName> names;
    for (const auto& [name, desc, bytes] : columns) names.push_back({name, desc});
    file_.write(detail::safetensors_begin(
        {{"format", kFormat}, {"version", kVersion}, {"fields", fields_}}, names, who_));
    for (const auto& column : columns) file_.write(column.bytes);
    file_.commit();
  }

 private:
  std::string who_, fields_;
  detail::ColumnBuilder columns_;
  ReplacedFile file_;
};

/// Tensors in a memory-mapped safetensors file. The tensors of a file not written by d5 are fields.
class RawContainer final : public Container {
 public:
  [[nodiscard]] std::string extension() const override { return "safetensors"; }

  [[nodiscard]] std::shared_ptr<const Dataset> open(const std::vector<std::string>& files,
                                                    const Interrupt& interrupt) const override {
    return detail::join_shards(files, interrupt,
                               [&](const std::string& path) { return shard(path); });
  }

  [[nodiscard]] std::unique_ptr<ContainerWriter> create(
      const std::string& path, const std::vector<Dataset::Field>& fields) const override {
    for (const auto& [name, desc] : fields) {
      if (desc.dtype == DType::string || detail::fits_safetensors(desc.dtype)) continue;
      throw Unsupported(
          fmt::format("'{}': field '{}' is {}, which safetensors lacks; cast it, or write tfrecord",
                      printable(path), printable(name), name_of(desc.dtype)));
    }
    return std::make_unique<RawWriter>(path, fields);
  }

 private:
  static std::unique_ptr<detail::Shard> shard(const std::string& path) {
    const auto file = std::make_shared<detail::MappedFile>(path);
    detail::expect_not_packed(file->bytes(), path);
    const std::string who = fmt::format("'{}'", printable(path));
    const auto content = detail::read_safetensors(
        detail::split_safetensors(file->bytes(), who, "safetensors file"), who);
    std::vector<detail::Column> columns;
    for (const auto& [name, desc, bytes] : content.tensors) columns.push_back({name, desc, bytes});
    std::optional<std::vector<Dataset::Field>> fields;
    const auto format = content.metadata.find("format");
    if (format != content.metadata.end() && format->second == kFormat) {
      const auto version = content.metadata.find("version"),
                 words = content.metadata.find("fields");
      if (version == content.metadata.end() || words == content.metadata.end()) {
        throw FormatError(fmt::format("{}: its metadata lack version or fields", who));
      }
      if (version->second != kVersion) {
        throw FormatError(fmt::format("{}: is of version {}, but this d5 reads version {}", who,
                                      printable(version->second), kVersion));
      }
      fields = detail::fields_from_json(words->second, who);
    }
    return std::make_unique<detail::ColumnShard>(path, file, std::move(columns), std::move(fields));
  }
};

}  // namespace

namespace container {

void register_raw(Registry<ContainerEntry>& registry) {
  registry.add("raw",
               ContainerEntry::of<RawContainer>("tensors in safetensors files, memory-mapped"));
}

}  // namespace container
}  // namespace d5
