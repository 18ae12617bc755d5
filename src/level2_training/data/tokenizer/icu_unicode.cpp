// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>

#include <algorithm>

#include "core/entries/system_library.hpp"
#include "core/errors/utf8.hpp"
#include "d5/core/errors/error.hpp"
#include "level2_training/data/tokenizer/unicode.hpp"

namespace d5::detail {
namespace {

/// ICU's functions, by their names in its headers, which are macros for names with its version.
struct Icu {
  SystemLibrary library{"icu", "tokenizer bpe", "install ICU (libicu72)"};
#define D5_ICU_WORD(name) #name
#define D5_ICU_NAME(name) D5_ICU_WORD(name)
#define D5_ICU(member, name) \
  decltype(::name)* member = library.function<decltype(::name)>(D5_ICU_NAME(name))
  D5_ICU(enumerate_types, u_enumCharTypes);
  D5_ICU(is_white_space, u_isUWhiteSpace);
  D5_ICU(nfc, unorm2_getNFCInstance);
  D5_ICU(nfd, unorm2_getNFDInstance);
  D5_ICU(nfkc, unorm2_getNFKCInstance);
  D5_ICU(nfkd, unorm2_getNFKDInstance);
  D5_ICU(normalise, unorm2_normalize);
#undef D5_ICU
#undef D5_ICU_NAME
#undef D5_ICU_WORD
};

/// The library, loaded at its first use. Throws: as `SystemLibrary`.
const Icu& icu() {
  static const Icu loaded;
  return loaded;
}

constexpr std::uint32_t kCodes = 0x110000;

UBool note_range(const void* classes, UChar32 begin, UChar32 end, UCharCategory type) {
  const std::uint32_t bit = 1U << unsigned(type);
  const auto kind = (bit & U_GC_L_MASK) != 0   ? CharacterClass::letter
                    : (bit & U_GC_N_MASK) != 0 ? CharacterClass::number
                                               : CharacterClass::other;
  auto& all = *static_cast<std::vector<CharacterClass>*>(const_cast<void*>(classes));
  std::fill(all.begin() + begin, all.begin() + end, kind);
  return true;
}

std::vector<CharacterClass> read_classes() {
  std::vector<CharacterClass> classes(kCodes, CharacterClass::other);
  icu().enumerate_types(note_range, &classes);
  constexpr std::uint32_t kBeyondSpaces = 0x3001;  // U+3000 is the last
  for (std::uint32_t code = 0; code < kBeyondSpaces; ++code) {
    if (icu().is_white_space(UChar32(code))) classes[code] = CharacterClass::space;
  }
  return classes;
}

void expect_success(UErrorCode error) {
  if (U_FAILURE(error)) {
    throw Unsupported(
        fmt::format("tokenizer bpe: ICU does not normalise (its error {}); is its data installed?",
                    int(error)));
  }
}

const UNormalizer2* normalizer(NormalForm form) {
  UErrorCode error = U_ZERO_ERROR;
  const auto& library = icu();
  const UNormalizer2* found = form == NormalForm::nfc    ? library.nfc(&error)
                              : form == NormalForm::nfd  ? library.nfd(&error)
                              : form == NormalForm::nfkc ? library.nfkc(&error)
                                                         : library.nfkd(&error);
  expect_success(error);
  return found;
}

void append_utf16(std::uint32_t code, std::u16string& text) {
  if (code < 0x10000) {
    text += char16_t(code);
  } else {
    text += char16_t(0xD7C0 + (code >> 10U));
    text += char16_t(0xDC00 + (code & 0x3FFU));
  }
}

void append_utf8(std::uint32_t code, std::string& text) {
  if (code < 0x80) {
    text += char(code);
  } else if (code < 0x800) {
    text += {char(0xC0U | code >> 6U), char(0x80U | (code & 0x3FU))};
  } else if (code < 0x10000) {
    text += {char(0xE0U | code >> 12U), char(0x80U | (code >> 6U & 0x3FU)),
             char(0x80U | (code & 0x3FU))};
  } else {
    text += {char(0xF0U | code >> 18U), char(0x80U | (code >> 12U & 0x3FU)),
             char(0x80U | (code >> 6U & 0x3FU)), char(0x80U | (code & 0x3FU))};
  }
}

void append_utf8(const std::u16string& wide, std::string& text) {
  for (std::size_t i = 0; i < wide.size(); ++i) {
    std::uint32_t code = wide[i];
    if (code >= 0xD800 && code < 0xDC00) {
      code = 0x10000 + ((code - 0xD800) << 10U) + (wide[++i] - 0xDC00U);
    }
    append_utf8(code, text);
  }
}

std::u16string normalised(const UNormalizer2* normalizer, const std::u16string& text) {
  std::u16string result(text.size() + text.size() / 4 + 16, u'\0');
  for (int attempt = 0;; ++attempt) {
    UErrorCode error = U_ZERO_ERROR;
    const int length = icu().normalise(normalizer, text.data(), int(text.size()), result.data(),
                                       int(result.size()), &error);
    if (error != U_BUFFER_OVERFLOW_ERROR || attempt > 0) expect_success(error);
    result.resize(std::size_t(length));
    if (U_SUCCESS(error)) return result;
  }
}

}  // namespace

const std::vector<CharacterClass>& character_classes() {
  static const std::vector<CharacterClass> classes = read_classes();
  return classes;
}

std::string in_normal_form(NormalForm form, std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::ranges::all_of(text, is_ascii)) return std::string(text);
  const UNormalizer2* const rules = normalizer(form);
  std::string result;
  std::u16string wide;
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    if (length > 0) {
      append_utf16(code, wide);
      text.remove_prefix(length);
      continue;
    }
    append_utf8(normalised(rules, wide), result);
    wide.clear();
    result += text.front();
    text.remove_prefix(1);
  }
  append_utf8(normalised(rules, wide), result);
  return result;
}

}  // namespace d5::detail
