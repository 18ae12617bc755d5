// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/npy.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/container.hpp"
#include "level2_training/data/storage/columns.hpp"
#include "level2_training/data/storage/unpacked_file.hpp"

namespace d5 {
namespace {

struct NpyOptions {
  std::string field = "data";
  void declare(OptionList& options) {
    options.add("field", field, "field name of the array, which its file does not contain");
  }
};

class NpyWriter final : public ContainerWriter {
 public:
  NpyWriter(const std::string& path, const std::vector<Dataset::Field>& fields)
      : columns_(fmt::format("'{}'", printable(path)), fields), file_(path) {}
  void add(const std::string&, std::span<const Tensor> sample) override {
    columns_.add(std::to_string(samples_++), sample);  // the name that none is kept for
  }
  [[nodiscard]] std::size_t bytes() const override { return columns_.bytes(); }
  void finish() override {
    const detail::Column column = columns_.finish().at(0);
    file_.write(to_npy(Tensor::borrow(column.desc, const_cast<char*>(column.bytes.data()))));
    file_.commit();
  }

 private:
  detail::ColumnBuilder columns_;
  std::int64_t samples_ = 0;
  ReplacedFile file_;
};

/// One memory-mapped NumPy array; dimension 0 is the sample. It stores no names.
class NpyContainer final : public Container {
 public:
  using Options = NpyOptions;
  explicit NpyContainer(const Options& options) : options_(options) {}
  [[nodiscard]] std::string extension() const override { return "npy"; }

  [[nodiscard]] std::shared_ptr<const Dataset> open(const std::vector<std::string>& files,
                                                    const Interrupt& interrupt) const override {
    return detail::join_shards(files, interrupt,
                               [&](const std::string& path) { return shard(path); });
  }

  [[nodiscard]] std::unique_ptr<ContainerWriter> create(
      const std::string& path, const std::vector<Dataset::Field>& fields) const override {
    if (fields.size() != 1) {
      throw Unsupported(fmt::format("'{}': {} fields, but a .npy file holds one array; write npz",
                                    printable(path), fields.size()));
    }
    const auto& [name, desc] = fields[0];
    if (!desc.shape.is_static() || !fits_npy(desc.dtype)) {
      throw Unsupported(fmt::format(
          "'{}': field '{}' is {}, but a .npy file holds numbers that NumPy has, in samples of one "
          "shape; write raw",
          printable(path), printable(name), to_string(desc)));
    }
    return std::make_unique<NpyWriter>(path, fields);
  }

 private:
  [[nodiscard]] std::unique_ptr<detail::Shard> shard(const std::string& path) const {
    const auto file = std::make_shared<detail::MappedFile>(path);
    detail::expect_not_packed(file->bytes(), path);
    const NpyHeader header = parse_npy_header(file->bytes(), path);
    if (!header.is_fortran) {
      return std::make_unique<detail::ColumnShard>(
          path, file,
          std::vector<detail::Column>{
              {options_.field, header.desc, file->bytes().substr(header.begin)}});
    }
    const auto tensor = std::make_shared<Tensor>(parse_npy(file->bytes(), path));
    return std::make_unique<detail::ColumnShard>(
        path, tensor,
        std::vector<detail::Column>{{options_.field,
                                     tensor->desc(),
                                     {static_cast<const char*>(tensor->raw()), tensor->bytes()}}});
  }

  Options options_;
};

}  // namespace

namespace container {

void register_npy(Registry<ContainerEntry>& registry) {
  registry.add("npy", ContainerEntry::of<NpyContainer>("one NumPy array, without pickles"));
}

}  // namespace container
}  // namespace d5
