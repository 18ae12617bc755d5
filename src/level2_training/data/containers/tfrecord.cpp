// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "core/files/deflate.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/container.hpp"
#include "level2_training/data/storage/example_fields.hpp"
#include "level2_training/data/storage/record_shard.hpp"

namespace d5 {
namespace {

constexpr const char* kTfRecord = "tfrecord";

struct TfRecordOptions : detail::IndexOptions {
  enum class Compression { none, gzip, zlib } compression = Compression::none;
  void declare(OptionList& options) {
    IndexOptions::declare(options);
    options.add("compression", compression,
                "compression of a whole written file; detected when reading",
                {"none", "gzip", "zlib"});
  }
};

class TfRecordWriter final : public ContainerWriter {
 public:
  TfRecordWriter(const std::string& path, const std::vector<Dataset::Field>& fields,
                 TfRecordOptions::Compression compression)
      : path_(path), file_(path) {
    using Wrapper = detail::Deflater::Wrapper;
    using enum TfRecordOptions::Compression;
    index_.fields = fields;
    if (compression != none) packed_.emplace(compression == gzip ? Wrapper::gzip : Wrapper::zlib);
  }

  void add(const std::string& name, std::span<const Tensor> sample) override {
    if (name != std::to_string(index_.begins.size())) {
      const std::string_view value = name;
      example_.add_bytes(std::string(detail::kNameFeature), std::span(&value, 1));
    }
    detail::add_features(index_.fields, sample, example_);
    const std::string data = example_.take();
    index_.begins.push_back(std::int64_t(bytes_) + detail::RecordFile::kBefore);
    index_.lengths.push_back(std::int64_t(data.size()));
    const std::string record = detail::framed_record(data);
    bytes_ += record.size();
    file_.write(packed_ ? packed_->add(record) : record);
  }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  void finish() override {
    if (packed_) file_.write(packed_->finish());
    file_.commit();
    detail::write_index(index_, path_, kTfRecord, bytes_);
  }

 private:
  std::string path_;
  ReplacedFile file_;
  std::optional<detail::Deflater> packed_;
  detail::ExampleWriter example_;
  detail::SampleIndex index_;
  std::size_t bytes_ = 0;
};

/// TensorFlow's records, each a tf.train.Example. Types and shapes that an Example cannot express
/// are in the index beside the file.
class TfRecordContainer final : public Container {
 public:
  using Options = TfRecordOptions;
  explicit TfRecordContainer(const Options& options) : options_(options) {}
  [[nodiscard]] std::string extension() const override { return "tfrecord"; }

  [[nodiscard]] std::shared_ptr<const Dataset> open(const std::vector<std::string>& files,
                                                    const Interrupt& interrupt) const override {
    std::vector<File> all;
    detail::ExampleFields found;
    bool is_told = true;
    for (const auto& path : files) {
      File& file = all.emplace_back();
      file.records = std::make_shared<detail::RecordFile>(path, interrupt);
      if (options_.index != Options::Use::memory) {
        file.index = detail::read_index(path, kTfRecord, file.records->bytes().size());
      }
      if (file.index) continue;
      is_told = false;
      file.index = file.records->index(interrupt);
      look_at(*file.records, *file.index, found, interrupt);
    }
    std::vector<std::unique_ptr<detail::Shard>> shards;
    for (auto& file : all) {
      // A file without an index lacks the information that only an index has.
      if (!is_told && file.index->fields.empty()) {
        file.index->fields = found.fields();
        if (options_.index == Options::Use::write) {
          detail::write_index(*file.index, file.records->path(), kTfRecord,
                              file.records->bytes().size());
        }
      }
      if (file.index->fields.empty()) {
        throw FormatError(fmt::format("'{}': holds no feature", printable(file.records->path())));
      }
      shards.push_back(std::make_unique<detail::RecordShard>(file.records, std::move(*file.index)));
    }
    return detail::join_shards(std::move(shards));
  }

  [[nodiscard]] std::unique_ptr<ContainerWriter> create(
      const std::string& path, const std::vector<Dataset::Field>& fields) const override {
    std::set<std::string> names{std::string(detail::kNameFeature)};
    for (const auto& [name, desc] : fields) {
      if (names.insert(name).second && names.insert(name + "/shape").second) continue;
      throw Unsupported(
          fmt::format("'{}': two features would be called '{}' or '{}/shape'; give a field another "
                      "name",
                      printable(path), printable(name), printable(name)));
    }
    return std::make_unique<TfRecordWriter>(path, fields, options_.compression);
  }

 private:
  struct File {
    std::shared_ptr<const detail::RecordFile> records;
    std::optional<detail::SampleIndex> index;
  };

  static void look_at(const detail::RecordFile& file, const detail::SampleIndex& index,
                      detail::ExampleFields& fields, const Interrupt& interrupt) {
    for (std::size_t i = 0; i < index.begins.size(); ++i) {
      if (i % 1024 == 0) interrupt.check(fmt::format("reading '{}'", printable(file.path())));
      const std::int64_t begin = index.begins[i], length = index.lengths[i];
      std::string flaw = file.flaw(begin, length);
      try {
        if (flaw.empty()) fields.add(file.bytes().substr(std::size_t(begin), std::size_t(length)));
      } catch (const FormatError& error) {
        flaw = error.what();
      }
      if (flaw.empty()) continue;
      throw FormatError(fmt::format("'{}': record {}, byte {}: {}", printable(file.path()), i,
                                    begin - detail::RecordFile::kBefore, flaw));
    }
  }

  Options options_;
};

}  // namespace

namespace container {

void register_tfrecord(Registry<ContainerEntry>& registry) {
  registry.add(kTfRecord,
               ContainerEntry::of<TfRecordContainer>(
                   "TFRecord: TensorFlow's tf.train.Example records, each with its checksum"));
}

}  // namespace container
}  // namespace d5
