// SPDX-License-Identifier: Apache-2.0
// StringNormalizer: removes stop words, and converts to upper or lower case.
#include <fmt/format.h>

#include <cstdint>
#include <locale>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"

namespace d5::detail {
namespace {

/// Upper and lower case of UTF-8 texts, by the system's tables.
///
/// Each letter maps to one letter: the upper case of "ß" is "ß", and a final sigma is treated like
/// any other. Bytes that are not UTF-8 are unchanged.
class LetterCase {
 public:
  /// `locale` is a name such as "tr_TR"; "" means no language, and so does a locale that the system
  /// lacks, because the tables of nearly all languages agree. Throws: Unsupported for a missing
  /// locale whose tables differ, ValueError for a path.
  explicit LetterCase(const std::string& locale);

  [[nodiscard]] std::string upper(std::string_view text) const { return map(text, Case::upper); }
  [[nodiscard]] std::string lower(std::string_view text) const { return map(text, Case::lower); }

 private:
  enum class Case { upper, lower };
  [[nodiscard]] std::string map(std::string_view text, Case to) const;

  std::locale locale_;
};

std::optional<std::locale> installed(const std::string& name) {
  try {
    return std::locale(name);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::locale find_locale(const std::string& name) {
  // The system would read tables from a file given by the model.
  if (name.find('/') != std::string::npos) {
    throw ValueError(
        fmt::format("the locale '{}' is a path, expected a name as en_US", printable(name)));
  }
  if (!name.empty()) {
    // With the encoding first, because Linux takes a name without one for a Latin-1 locale.
    for (const std::string& known : {name + ".UTF-8", name}) {
      if (const auto locale = installed(known)) return *locale;
    }
  }
  // Languages with their own upper case: dotless i, and preserved accents.
  for (const std::string_view language : {"tr", "az", "lt"}) {
    if (!name.starts_with(language)) continue;
    throw Unsupported(fmt::format(
        "the locale '{}' has upper cases of its own, and this system lacks it: install it",
        printable(name)));
  }
  if (const auto locale = installed("C.UTF-8")) return *locale;
  throw Unsupported("upper and lower case need the locale C.UTF-8, which this system lacks");
}

/// The first letter of `text`, and its size in bytes; 0 if it is not UTF-8.
struct Letter {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Letter first_letter(std::string_view text) {
  const auto byte = [&](std::size_t i) { return std::uint32_t(std::uint8_t(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool has_shorter = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  return has_shorter ? Letter() : Letter{code, bytes};
}

void append(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += char(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // continuation bytes
  text += char((0xF0u << (3 - more)) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) text += char(0x80 | (code >> (6 * i) & 0x3F));
}

LetterCase::LetterCase(const std::string& locale) : locale_(find_locale(locale)) {}

std::string LetterCase::map(std::string_view text, Case to) const {
  const auto& tables = std::use_facet<std::ctype<wchar_t>>(locale_);
  std::string result;
  while (!text.empty()) {
    const Letter letter = first_letter(text);
    if (letter.bytes == 0) {
      result += text.front();
      text.remove_prefix(1);
      continue;
    }
    const auto code = wchar_t(letter.code);
    append(result, std::uint32_t(to == Case::upper ? tables.toupper(code) : tables.tolower(code)));
    text.remove_prefix(letter.bytes);
  }
  return result;
}

}  // namespace
}  // namespace d5::detail

namespace d5::ops {
namespace {

using StringNormalizerView = onnx::nodes::StringNormalizer;

enum class CaseChange { none, lower, upper };

CaseChange case_change(const StringNormalizerView& view) {
  const std::string word = view.case_change_action();
  if (word == "NONE") return CaseChange::none;
  if (word == "LOWER") return CaseChange::lower;
  if (word == "UPPER") return CaseChange::upper;
  throw ValueError(fmt::format("{}: case_change_action is {}, expected NONE, LOWER or UPPER",
                               onnx::describe(view.node()), printable(word)));
}

/// Conversion of a word.
class Words {
 public:
  explicit Words(const StringNormalizerView& view) : change_(case_change(view)) {
    const auto stopwords = view.stopwords().value_or(std::vector<std::string>{});
    folds_ = view.is_case_sensitive() == 0 && !stopwords.empty();
    if (folds_ || change_ != CaseChange::none) letters_.emplace(view.locale().value_or(""));
    for (const std::string& word : stopwords) stopwords_.insert(folds_ ? lower(word) : word);
  }

  [[nodiscard]] bool keeps(const std::string& word) const {
    return !stopwords_.contains(folds_ ? lower(word) : word);
  }
  [[nodiscard]] std::string normalized(const std::string& word) const {
    if (change_ == CaseChange::none) return word;
    return change_ == CaseChange::upper ? letters_->upper(word) : lower(word);
  }

 private:
  [[nodiscard]] std::string lower(const std::string& word) const { return letters_->lower(word); }

  CaseChange change_;
  bool folds_ = false;  // stop words match case-insensitively
  std::optional<detail::LetterCase> letters_;
  std::unordered_set<std::string> stopwords_;
};

/// Shapes: [C] or [1, C], with the remaining words; one empty text if there are none.
class StringNormalizer final : public MovingOperator {
 public:
  explicit StringNormalizer(const StringNormalizerView& view) : words_(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    Shape y = context.shape(StringNormalizerView::In::X);
    if (y.rank() != 1 && !(y.rank() == 2 && y[0] == 1)) {
      throw ShapeError(
          fmt::format("{}: X is {}, expected C or 1xC texts", context.who(), to_string(y)));
    }
    y[y.rank() - 1] = kUnknownDim;
    return {TensorDesc{DType::string, y}};
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([this](OpContext& run) {
      const Tensor& x = run.input(StringNormalizerView::In::X);
      std::vector<std::string> kept;
      for (const std::string& word : x.span<std::string>()) {
        if (words_.keeps(word)) kept.push_back(words_.normalized(word));
      }
      if (kept.empty()) kept.emplace_back();
      Shape shape = x.shape();
      shape[shape.rank() - 1] = std::int64_t(kept.size());
      std::string* y =
          run.allocate(StringNormalizerView::Out::Y, {DType::string, shape}).data<std::string>();
      for (std::string& word : kept) *y++ = std::move(word);
    });
  }

 private:
  Words words_;
};

}  // namespace

void register_string_normalizer(OperatorRegistry& registry) {
  registry.add<StringNormalizer, StringNormalizerView>();
}

}  // namespace d5::ops
