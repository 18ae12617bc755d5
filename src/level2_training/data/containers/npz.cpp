// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/files/zip.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/npy.hpp"
#include "d5/level2_training/data/container.hpp"
#include "level2_training/data/storage/columns.hpp"
#include "level2_training/data/storage/field_words.hpp"
#include "level2_training/data/storage/unpacked_file.hpp"

namespace d5 {
namespace {

/// Member that describes fields which the arrays do not describe completely.
constexpr const char* kFieldsMember = "d5.fields.json";
constexpr std::string_view kExtension = ".npy";

struct NpzOptions {
  detail::ZipWriter::Compression compression = detail::ZipWriter::Compression::none;
  void declare(OptionList& options) {
    options.add("compression", compression, "compression of written arrays", {"none", "deflate"});
  }
};

class NpzWriter final : public ContainerWriter {
 public:
  NpzWriter(const std::string& path, const std::vector<Dataset::Field>& fields,
            detail::ZipWriter::Compression compression)
      : fields_(fields),
        columns_(fmt::format("'{}'", printable(path)), fields),
        zip_(compression),
        file_(path) {}

  void add(const std::string& name, std::span<const Tensor> sample) override {
    columns_.add(name, sample);
  }
  [[nodiscard]] std::size_t bytes() const override { return columns_.bytes(); }
  void finish() override {
    for (const auto& [name, desc, bytes] : columns_.finish()) {
      zip_.add(name + std::string(kExtension),
               to_npy(Tensor::borrow(desc, const_cast<char*>(bytes.data()))));
    }
    zip_.add(kFieldsMember, detail::to_json(fields_));
    file_.write(zip_.finish());
    file_.commit();
  }

 private:
  std::vector<Dataset::Field> fields_;
  detail::ColumnBuilder columns_;
  detail::ZipWriter zip_;
  ReplacedFile file_;
};

/// NumPy arrays in a zip archive, decompressed into memory; dimension 0 is the sample.
class NpzContainer final : public Container {
 public:
  using Options = NpzOptions;
  explicit NpzContainer(const Options& options) : options_(options) {}
  [[nodiscard]] std::string extension() const override { return "npz"; }

  [[nodiscard]] std::shared_ptr<const Dataset> open(const std::vector<std::string>& files,
                                                    const Interrupt& interrupt) const override {
    return detail::join_shards(files, interrupt,
                               [&](const std::string& path) { return shard(path, interrupt); });
  }

  [[nodiscard]] std::unique_ptr<ContainerWriter> create(
      const std::string& path, const std::vector<Dataset::Field>& fields) const override {
    for (const auto& [name, desc] : fields) {
      if (desc.dtype == DType::string || fits_npy(desc.dtype)) continue;
      throw Unsupported(fmt::format("'{}': field '{}' is {}, which NumPy lacks; write raw",
                                    printable(path), printable(name), name_of(desc.dtype)));
    }
    return std::make_unique<NpzWriter>(path, fields, options_.compression);
  }

 private:
  static std::unique_ptr<detail::Shard> shard(const std::string& path, const Interrupt& interrupt) {
    const detail::MappedFile file(path);
    detail::expect_not_packed(file.bytes(), path);
    const auto tensors = std::make_shared<std::vector<Tensor>>();
    std::vector<detail::Column> columns;
    std::optional<std::vector<Dataset::Field>> fields;
    for (auto& [name, bytes] : detail::read_zip(file.bytes(), path, memory_budget(), interrupt)) {
      const std::string who = fmt::format("{}/{}", path, name);
      if (name == kFieldsMember) {
        fields = detail::fields_from_json(bytes, fmt::format("'{}'", printable(who)));
      }
      if (!name.ends_with(kExtension)) continue;
      const Tensor& tensor = tensors->emplace_back(parse_npy(bytes, who));
      bytes = {};
      columns.push_back({name.substr(0, name.size() - kExtension.size()),
                         tensor.desc(),
                         {static_cast<const char*>(tensor.raw()), tensor.bytes()}});
    }
    return std::make_unique<detail::ColumnShard>(path, tensors, std::move(columns),
                                                 std::move(fields));
  }

  Options options_;
};

}  // namespace

namespace container {

void register_npz(Registry<ContainerEntry>& registry) {
  registry.add("npz", ContainerEntry::of<NpzContainer>(
                          "NumPy arrays in a zip archive, one per field, without pickles"));
}

}  // namespace container
}  // namespace d5
