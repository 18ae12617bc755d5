// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/sample_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "level2_training/data/storage/crc32c.hpp"
#include "level2_training/data/storage/field_words.hpp"
#include "level2_training/data/storage/little_endian.hpp"
#include "level2_training/data/storage/safetensors.hpp"
#include "level2_training/data/storage/shard_name.hpp"

namespace d5::detail {
namespace {

constexpr const char *kFormat = "d5 index", *kVersion = "1";
constexpr const char* kWayOut = "remove the index, or open with index=memory";

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// An index file under suspicion.
class IndexReader {
 public:
  IndexReader(const std::string& path, std::string container, std::size_t bytes)
      : container_(std::move(container)),
        bytes_(bytes),
        who_(fmt::format("index '{}'", printable(path + kIndexSuffix))),
        text_(read_file(path + kIndexSuffix, memory_budget())),
        file_(read_safetensors(split_safetensors(text_, who_, "index"), who_)) {}

  [[nodiscard]] SampleIndex read() const {
    expect("format", kFormat);
    expect("version", kVersion);
    expect("container", container_);
    expect("bytes", std::to_string(bytes_));
    SampleIndex index;
    index.fields = fields_from_json(text("fields"), who_);
    const Safetensors::Stored* const begins = find("begins");
    if (!begins || begins->desc.shape.rank() != 2) refuse("has no places of samples");
    const std::int64_t samples = begins->desc.shape[0];
    index.parts = begins->desc.shape[1];
    if (index.parts < 1) refuse("its samples have no parts");
    values("begins", samples * index.parts, index.begins);
    values("lengths", samples * index.parts, index.lengths);
    if (find("sums")) values("sums", samples * index.parts, index.sums);
    std::string all;
    for (const char* name : {"begins", "lengths", "sums", "names", "names/ends"}) {
      if (const auto* const tensor = find(name)) all += tensor->bytes;
    }
    expect("crc32c", std::to_string(crc32c(all)));
    for (std::size_t i = 0; i < index.begins.size(); ++i) {
      const std::int64_t begin = index.begins[i], length = index.lengths[i];
      if (begin >= 0 && length >= 0 && begin <= std::int64_t(bytes_) &&
          length <= std::int64_t(bytes_) - begin) {
        continue;
      }
      refuse(fmt::format("sample {} is declared as {} bytes from byte {} on, of {}",
                         std::int64_t(i) / index.parts, length, begin, bytes_));
    }
    read_names(samples, index);
    for (const auto& [name, desc] : index.fields) {
      // A number of variable length takes at least one byte for eight of the tensor.
      if (samples == 0 || !desc.shape.is_static() || desc.dtype == DType::string ||
          desc.bytes() / sizeof(std::int64_t) <= bytes_) {
        continue;
      }
      refuse(fmt::format("field '{}' is declared as {}, more than the file of {} bytes holds",
                         printable(name), to_string(desc), bytes_));
    }
    return index;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw FormatError(fmt::format("{}: {}; {}", who_, what, kWayOut));
  }
  [[nodiscard]] const std::string& text(const char* key) const {
    const auto place = file_.metadata.find(key);
    if (place == file_.metadata.end()) refuse(fmt::format("its metadata have no '{}'", key));
    return place->second;
  }
  void expect(const char* key, const std::string& expected) const {
    const std::string& given = text(key);
    if (given == expected) return;
    refuse(
        fmt::format("its {} is '{}', but the file beside it asks for '{}'; it is of another file",
                    key, printable(given), expected));
  }
  [[nodiscard]] const Safetensors::Stored* find(std::string_view name) const {
    const auto place = std::ranges::find(file_.tensors, name, &Safetensors::Stored::name);
    return place == file_.tensors.end() ? nullptr : &*place;
  }
  template <class T>
  void values(const char* name, std::int64_t count, std::vector<T>& to) const {
    const Safetensors::Stored* const tensor = find(name);
    if (!tensor || tensor->desc.dtype != dtype_of<T> || tensor->desc.elements() != count) {
      refuse(fmt::format("expected a tensor '{}' of {} {}", name, count, name_of(dtype_of<T>)));
    }
    to.resize(std::size_t(count));
    if (count > 0) std::memcpy(to.data(), tensor->bytes.data(), tensor->bytes.size());
  }
  void read_names(std::int64_t samples, SampleIndex& index) const {
    const Safetensors::Stored* const bytes = find("names");
    if (!bytes) return;
    std::vector<std::int64_t> ends;
    values("names/ends", samples, ends);
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
      if (end < begin || end > std::int64_t(bytes->bytes.size())) refuse("names overlap");
      index.names.emplace_back(bytes->bytes.substr(std::size_t(begin), std::size_t(end - begin)));
      begin = end;
    }
  }

  std::string container_;
  std::size_t bytes_;
  std::string who_, text_;
  Safetensors file_;
};

}  // namespace

void write_index(const SampleIndex& index, const std::string& path, const std::string& container,
                 std::size_t bytes) {
  std::string names;
  std::vector<std::int64_t> ends;
  for (const auto& name : index.names) {
    names += name;
    ends.push_back(std::int64_t(names.size()));
  }
  const Shape shape{index.samples(), index.parts};
  std::vector<TensorName> tensors{{"begins", {DType::int64, shape}},
                                  {"lengths", {DType::int64, shape}}};
  std::string all{bytes_of(index.begins)};
  all += bytes_of(index.lengths);
  if (!index.sums.empty()) {
    tensors.push_back({"sums", {DType::uint32, shape}});
    all += bytes_of(index.sums);
  }
  if (!index.names.empty()) {
    tensors.push_back({"names", {DType::uint8, {std::int64_t(names.size())}}});
    tensors.push_back({"names/ends", {DType::int64, {index.samples()}}});
    all += names;
    all += bytes_of(ends);
  }
  const std::string file = path + kIndexSuffix;
  write_file(file, safetensors_begin({{"format", kFormat},
                                      {"version", kVersion},
                                      {"container", container},
                                      {"bytes", std::to_string(bytes)},
                                      {"crc32c", std::to_string(crc32c(all))},
                                      {"fields", to_json(index.fields)}},
                                     tensors, fmt::format("index '{}'", printable(file))) +
                       all);
}

std::optional<SampleIndex> read_index(const std::string& path, const std::string& container,
                                      std::size_t bytes) {
  std::error_code ignored;
  if (!std::filesystem::exists(path + kIndexSuffix, ignored)) return {};
  return IndexReader(path, container, bytes).read();
}

}  // namespace d5::detail
