// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/npy.hpp"
#include "level2_training/data/storage/field_words.hpp"
#include "level2_training/data/storage/tar.hpp"
#include "level2_training/data/storage/tar_fields.hpp"

namespace d5::detail {
namespace {

/// Whether the files of a suffix hold tensors.
bool is_tensor(std::string_view suffix) { return suffix == "npy" || suffix.ends_with(".npy"); }
bool is_label(std::string_view suffix) { return suffix == "cls" || suffix.ends_with(".cls"); }

/// Members that describe the archive, with "__x__" first in their path, are skipped (WebDataset).
bool is_about_archive(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  return first.size() > 4 && first.starts_with("__") && first.ends_with("__");
}

class TarIndexer {
 public:
  TarIndexer(const UnpackedFile& file, const std::vector<std::string>& fields)
      : file_(file), reader_(file.bytes(), file.path()), suffixes_(fields) {
    chosen_ = !fields.empty();
  }

  SampleIndex index(const Interrupt& interrupt) {
    TarReader::Member member;
    for (std::size_t count = 0; reader_.next(member); ++count) {
      if (count % 1024 == 0) {
        interrupt.check(fmt::format("indexing '{}'", printable(file_.path())));
      }
      if (count == 0) take_told_fields();
      auto [stem, suffix] = split_tar_name(member.name);
      if (suffix.empty() || (!told_ && is_about_archive(member.name))) continue;
      if (!told_) std::ranges::transform(suffix, suffix.begin(), lower);
      if (stem != stem_) end_sample();
      stem_ = stem;
      parts_.push_back({std::move(suffix), member.begin, member.length});
    }
    take_told_fields();
    end_sample();
    if (suffixes_.empty()) fail(0, "holds no sample: no file whose name has a dot");
    index_.parts = std::int64_t(suffixes_.size());
    for (std::size_t f = 0; !told_ && f < suffixes_.size(); ++f) add_field(f);
    for (const auto& [name, desc] : index_.fields) {
      const bool is_open = desc.dtype == DType::string || !desc.shape.is_static();
      if (is_open || desc.shape.rank() == 0 || index_.samples() == 0) continue;
      if (desc.bytes() <= file_.bytes().size()) continue;
      fail(0, fmt::format("field '{}' is declared as {}, more than the archive holds",
                          printable(name), to_string(desc)));
    }
    return std::move(index_);
  }

 private:
  struct Part {
    std::string suffix;
    std::size_t begin, length;
  };

  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    throw FormatError(fmt::format("'{}': byte {}: {}", printable(file_.path()), at, what));
  }

  static char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

  void take_told_fields() {
    const auto told = reader_.globals().find(kFieldsKeyword);
    if (told_ || chosen_ || told == reader_.globals().end()) return;
    told_ = true;
    index_.fields = fields_from_json(told->second, fmt::format("'{}'", printable(file_.path())));
    for (const auto& field : index_.fields) {
      suffixes_.push_back(suffix_of(field));
    }
  }

  void end_sample() {
    if (parts_.empty()) return;
    const std::size_t at = parts_[0].begin;
    if (suffixes_.empty()) {
      for (const auto& part : parts_) suffixes_.push_back(part.suffix);
    }
    std::ranges::sort(parts_, {}, &Part::suffix);
    const auto twice = std::ranges::adjacent_find(parts_, {}, &Part::suffix);
    if (twice != parts_.end()) {
      fail(at,
           fmt::format("sample '{}' has '{}' twice", printable(stem_), printable(twice->suffix)));
    }
    for (const auto& suffix : suffixes_) {
      const auto part = std::ranges::lower_bound(parts_, suffix, {}, &Part::suffix);
      if (part == parts_.end() || part->suffix != suffix) {
        fail(at, fmt::format("sample '{}' has no file '{}'; choose those that all have: fields=...",
                             printable(stem_), printable(suffix)));
      }
      index_.begins.push_back(std::int64_t(part->begin));
      index_.lengths.push_back(std::int64_t(part->length));
    }
    if (!chosen_ && parts_.size() != suffixes_.size()) {
      fail(at,
           fmt::format("sample '{}' has {} files, but those before have {}; choose those that "
                       "all have: fields={},...",
                       printable(stem_), parts_.size(), suffixes_.size(), printable(suffixes_[0])));
    }
    index_.names.push_back(told_ ? name_of_stem(stem_) : stem_);
    parts_.clear();
  }

  /// Adds the field of a suffix; reads the headers of its tensors.
  void add_field(std::size_t part) {
    const std::string& suffix = suffixes_[part];
    Dataset::Field field{suffix, {is_label(suffix) ? DType::int64 : DType::string, {}}};
    for (std::int64_t i = 0; is_tensor(suffix) && i < index_.samples(); ++i) {
      const auto place = std::size_t(i * index_.parts) + part;
      const auto begin = std::size_t(index_.begins[place]);
      const TensorDesc desc =
          parse_npy_header(
              file_.bytes().substr(begin, std::size_t(index_.lengths[place])),
              fmt::format("{}/{}.{}", file_.path(), index_.names[std::size_t(i)], suffix))
              .desc;
      if (i == 0) field.desc = desc;
      Shape& shape = field.desc.shape;
      if (desc.dtype != field.desc.dtype || desc.shape.rank() != shape.rank()) {
        fail(begin, fmt::format("sample '{}' has '{}' as {}, but {} before",
                                printable(index_.names[std::size_t(i)]), printable(suffix),
                                to_string(desc), to_string(field.desc)));
      }
      for (std::size_t d = 0; d < shape.rank(); ++d) {
        if (shape[d] != desc.shape[d]) shape[d] = kUnknownDim;
      }
    }
    index_.fields.push_back(std::move(field));
  }

  const UnpackedFile& file_;
  TarReader reader_;
  std::vector<std::string> suffixes_;  ///< suffixes of the fields
  bool chosen_ = false;                ///< chosen by the caller
  bool told_ = false;                  ///< declared by the archive
  std::string stem_;
  std::vector<Part> parts_;  ///< parts of the sample `stem_`
  SampleIndex index_;
};

}  // namespace

SampleIndex index_tar(const UnpackedFile& file, const std::vector<std::string>& fields,
                      const Interrupt& interrupt) {
  return TarIndexer(file, fields).index(interrupt);
}

}  // namespace d5::detail
