// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/tar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/npy.hpp"
#include "d5/level2_training/data/container.hpp"
#include "level2_training/data/storage/crc32c.hpp"
#include "level2_training/data/storage/field_words.hpp"
#include "level2_training/data/storage/shard.hpp"
#include "level2_training/data/storage/tar_fields.hpp"

namespace d5 {
namespace {

constexpr const char* kTar = "tar";

struct TarOptions : detail::IndexOptions {
  std::string fields;
  void declare(OptionList& options) {
    IndexOptions::declare(options);
    options.add(
        "fields", fields,
        "file extensions to read of each sample: 'jpg,cls'; default: all of the first sample's");
  }
};

class TarShard final : public detail::Shard {
 public:
  TarShard(std::shared_ptr<const detail::UnpackedFile> file, detail::SampleIndex index)
      : Shard(file->path()), file_(std::move(file)), index_(std::move(index)) {
    usual_.resize(index_.fields.size());
    for (std::size_t f = 0; f < usual_.size() && size() > 0; ++f) usual_[f] = usual_header(f);
  }

  [[nodiscard]] const std::vector<Dataset::Field>& fields() const override { return index_.fields; }
  [[nodiscard]] std::int64_t size() const override { return index_.samples(); }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override {
    return index_.names.empty() ? std::string() : index_.names[std::size_t(index)];
  }
  [[nodiscard]] std::string place(std::int64_t index) const override {
    return fmt::format("byte {}", index_.begins[part(index, 0)]);
  }

  void read(std::int64_t index, detail::SampleRow& row) const override {
    for (std::size_t f = 0; f < index_.fields.size(); ++f) {
      if (!row.wants(f)) continue;
      const std::size_t at = part(index, f);
      const std::string_view bytes = data(at);
      if (!index_.sums.empty() && detail::crc32c(bytes) != index_.sums[at]) {
        row.fail(f, fmt::format("its {} bytes from byte {} on have the CRC-32C {:08x}, the index "
                                "says {:08x}; the archive is damaged, or the index of another",
                                bytes.size(), index_.begins[at], detail::crc32c(bytes),
                                index_.sums[at]));
      }
      read(f, bytes, row);
    }
  }

 private:
  [[nodiscard]] std::size_t part(std::int64_t index, std::size_t field) const {
    return std::size_t(index * index_.parts) + field;
  }
  [[nodiscard]] std::string_view data(std::size_t at) const {
    return file_->bytes().substr(std::size_t(index_.begins[at]), std::size_t(index_.lengths[at]));
  }

  void read(std::size_t f, std::string_view bytes, detail::SampleRow& row) const {
    const TensorDesc& desc = row.desc(f);
    if (desc.dtype == DType::string) {
      row.texts(f, {})->assign(bytes);
    } else if (desc.dtype == DType::int64 && desc.shape.rank() == 0) {
      *reinterpret_cast<std::int64_t*>(row.numbers(f, {})) = label(f, bytes, row);
    } else if (!usual_[f].empty() && bytes.starts_with(usual_[f])) {
      row.put(f, index_.fields[f].desc.shape.dims(), bytes.substr(usual_[f].size()));
    } else {
      read_tensor(f, bytes, row);
    }
  }

  static std::int64_t label(std::size_t f, std::string_view text, const detail::SampleRow& row) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    std::string_view digits = text.substr(begin);
    digits = digits.substr(0, digits.find_last_not_of(kBlanks) + 1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      row.fail(f, fmt::format("is '{}', expected an integer", printable(text)));
    }
    return value;
  }

  static void read_tensor(std::size_t f, std::string_view bytes, detail::SampleRow& row) {
    Tensor tensor;
    try {
      tensor = parse_npy(bytes, "its file");
    } catch (const Error& error) {
      row.fail(f, error.what());
    }
    if (tensor.dtype() != row.desc(f).dtype) {
      row.fail(f, fmt::format("is {}, expected {}", name_of(tensor.dtype()),
                              name_of(row.desc(f).dtype)));
    }
    row.put(f, tensor.shape().dims(), {static_cast<const char*>(tensor.raw()), tensor.bytes()});
  }

  /// The start of a file of the field's own shape: the header of the first sample, which most
  /// repeat.
  [[nodiscard]] std::string usual_header(std::size_t field) const {
    const TensorDesc& desc = index_.fields[field].desc;
    if (desc.dtype == DType::string || !desc.shape.is_static()) return {};
    const std::string_view bytes = data(part(0, field));
    try {
      const NpyHeader header = parse_npy_header(bytes, file());
      if (header.is_fortran || header.desc != desc) return {};
      return std::string(bytes.substr(0, header.begin));
    } catch (const Error&) {
      return {};  // a label, or broken, which reading it reports
    }
  }

  std::shared_ptr<const detail::UnpackedFile> file_;
  detail::SampleIndex index_;
  std::vector<std::string> usual_;  ///< headers of tensors; empty if there is none
};

class TarWriter final : public ContainerWriter {
 public:
  TarWriter(const std::string& path, const std::vector<Dataset::Field>& fields)
      : path_(path), file_(path) {
    index_.fields = fields;
    index_.parts = std::int64_t(fields.size());
    for (const auto& field : fields) suffixes_.push_back(detail::suffix_of(field));
    write(detail::tar_global_header(detail::kFieldsKeyword, detail::to_json(fields)));
  }

  void add(const std::string& name, std::span<const Tensor> sample) override {
    const std::string stem = detail::stem_of(name);
    for (std::size_t f = 0; f < suffixes_.size(); ++f) {
      const std::string data = content(index_.fields[f].desc, sample[f].on_host());
      write(detail::tar_header(fmt::format("{}.{}", stem, suffixes_[f]), data.size()));
      index_.begins.push_back(std::int64_t(bytes_));
      index_.lengths.push_back(std::int64_t(data.size()));
      index_.sums.push_back(detail::crc32c(data));
      write(data);
      write(detail::tar_padding(data.size()));
    }
    index_.names.push_back(name);
  }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  void finish() override {
    write(std::string(2 * detail::TarReader::kBlock, '\0'));
    file_.commit();
    detail::write_index(index_, path_, kTar, bytes_);
  }

 private:
  static std::string content(const TensorDesc& desc, const Tensor& tensor) {
    if (desc.dtype == DType::string) return tensor.item<std::string>();
    if (desc.dtype == DType::int64 && desc.shape.rank() == 0) {
      return std::to_string(tensor.item<std::int64_t>());
    }
    return to_npy(tensor.reshaped(Shape(tensor.shape().dims().subspan(1))));
  }
  void write(const std::string& bytes) {
    file_.write(bytes);
    bytes_ += bytes.size();
  }

  std::string path_;
  ReplacedFile file_;
  std::vector<std::string> suffixes_;
  detail::SampleIndex index_;
  std::size_t bytes_ = 0;
};

/// Files of a tar archive, grouped into samples as in WebDataset. An archive compressed by gzip is
/// decompressed into memory.
class TarContainer final : public Container {
 public:
  using Options = TarOptions;
  explicit TarContainer(const Options& options) : options_(options) {}
  [[nodiscard]] std::string extension() const override { return "tar"; }

  [[nodiscard]] std::shared_ptr<const Dataset> open(const std::vector<std::string>& files,
                                                    const Interrupt& interrupt) const override {
    return detail::join_shards(files, interrupt, [&](const std::string& path) {
      auto file = std::make_shared<detail::UnpackedFile>(path);
      if (detail::is_gzip(file->bytes())) {
        file->unpack(detail::Packing::gzip_or_none, interrupt);
      }
      auto index = index_of(*file, interrupt);
      return std::make_unique<TarShard>(std::move(file), std::move(index));
    });
  }

  [[nodiscard]] std::unique_ptr<ContainerWriter> create(
      const std::string& path, const std::vector<Dataset::Field>& fields) const override {
    std::set<std::string> suffixes;
    for (const auto& field : fields) {
      const auto& [name, desc] = field;
      const auto refuse = [&, &name = name](const std::string& what) {
        throw Unsupported(
            fmt::format("'{}': field '{}' {}", printable(path), printable(name), what));
      };
      if (name.empty() || !suffixes.insert(detail::suffix_of(field)).second) {
        refuse("would have no file of its own; give it another name");
      }
      if (desc.dtype == DType::string && desc.shape.rank() > 0) {
        refuse("is several strings, but a file holds one; write tfrecord or raw");
      }
      if (!fits_npy(desc.dtype) && desc.dtype != DType::string) {
        refuse(fmt::format("is {}, which a .npy file lacks; write tfrecord or raw",
                           name_of(desc.dtype)));
      }
    }
    return std::make_unique<TarWriter>(path, fields);
  }

 private:
  [[nodiscard]] detail::SampleIndex index_of(const detail::UnpackedFile& file,
                                             const Interrupt& interrupt) const {
    const auto chosen = chosen_fields();
    if (options_.index != Options::Use::memory && chosen.empty()) {
      if (auto index = detail::read_index(file.path(), kTar, file.bytes().size())) {
        if (index->parts != std::int64_t(index->fields.size())) {
          throw FormatError(fmt::format("index of '{}': samples of {} parts, but {} fields",
                                        printable(file.path()), index->parts,
                                        index->fields.size()));
        }
        return std::move(*index);
      }
    }
    auto index = detail::index_tar(file, chosen, interrupt);
    if (options_.index == Options::Use::write && chosen.empty()) {
      for (std::size_t i = 0; i < index.begins.size(); ++i) {
        if (i % 1024 == 0) interrupt.check(fmt::format("reading '{}'", printable(file.path())));
        index.sums.push_back(detail::crc32c(
            file.bytes().substr(std::size_t(index.begins[i]), std::size_t(index.lengths[i]))));
      }
      detail::write_index(index, file.path(), kTar, file.bytes().size());
    }
    return index;
  }

  [[nodiscard]] std::vector<std::string> chosen_fields() const {
    std::vector<std::string> fields;
    for (std::size_t begin = 0; begin < options_.fields.size();) {
      const std::size_t end = std::min(options_.fields.find(',', begin), options_.fields.size());
      fields.push_back(options_.fields.substr(begin, end - begin));
      begin = end + 1;
    }
    return fields;
  }

  Options options_;
};

}  // namespace

namespace container {

void register_tar(Registry<ContainerEntry>& registry) {
  registry.add(kTar, ContainerEntry::of<TarContainer>(
                         "WebDataset: files with one stem in a tar archive are a sample"));
}

}  // namespace container
}  // namespace d5
