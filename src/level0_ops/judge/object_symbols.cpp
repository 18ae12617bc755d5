// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/object_symbols.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "level0_ops/judge/judge_fault.hpp"

namespace d5::detail {
namespace {

/// Structs of a file, which may be damaged.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : path_(path), content_(read_file(path)) {
    header_ = at<Elf64_Ehdr>(0);
    const bool is_elf = std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
                        header_.e_ident[EI_CLASS] == ELFCLASS64 &&
                        header_.e_shentsize == sizeof(Elf64_Shdr);
    if (!is_elf) refuse();
  }
  [[nodiscard]] std::vector<Elf64_Shdr> sections() const {
    std::vector<Elf64_Shdr> all;
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      all.push_back(at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    return all;
  }
  template <class T>
  [[nodiscard]] T at(std::uint64_t offset) const {
    T value;
    if (offset > content_.size() || sizeof value > content_.size() - offset) refuse();
    std::memcpy(&value, content_.data() + offset, sizeof value);
    return value;
  }
  [[nodiscard]] std::string text(std::uint64_t offset) const {
    if (offset >= content_.size()) refuse();
    return content_.substr(offset, content_.find('\0', offset) - offset);
  }

 private:
  [[noreturn]] void refuse() const {
    throw FormatError(fmt::format("'{}' is no complete 64-bit ELF object", printable(path_)));
  }

  std::string path_, content_;
  Elf64_Ehdr header_{};
};

/// Routines of BLAS without the letter of their type. Source: Lawson et al. (1979), Dongarra et al.
/// (1988, 1990): levels 1, 2 and 3.
constexpr std::string_view kBlas[] = {
    "asum", "axpy", "copy", "dot",  "dotc", "dotu", "gbmv", "gemm", "gemmt", "gemv", "ger",  "gerc",
    "geru", "hemm", "hemv", "her",  "her2", "herk", "nrm2", "sbmv", "scal",  "spmv", "swap", "symm",
    "symv", "syr",  "syr2", "syrk", "tbmv", "tpmv", "trmm", "trmv", "trsm",  "trsv"};

bool is_of_blas(std::string_view symbol) {
  constexpr std::string_view kTypes = "sdcz", kPrefix = "cblas_";
  const bool is_c = symbol.starts_with(kPrefix);
  if (is_c) symbol.remove_prefix(kPrefix.size());
  if (!is_c && !symbol.ends_with('_')) return false;  // a name of one's own, as sgemm
  symbol = symbol.substr(0, symbol.find('_'));        // sgemm_, sgemm_64_
  return !symbol.empty() && kTypes.find(symbol.front()) != std::string_view::npos &&
         std::ranges::find(kBlas, symbol.substr(1)) != std::end(kBlas);
}

}  // namespace

ObjectSymbols symbols_of(const std::string& path) {
  const ElfFile file(path);
  const std::vector<Elf64_Shdr> sections = file.sections();
  ObjectSymbols result{.stripped = true};
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_type == SHT_SYMTAB) result.stripped = false;
    if (section.sh_link >= sections.size()) continue;
    const std::uint64_t names = sections[section.sh_link].sh_offset;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = file.at<Elf64_Sym>(section.sh_offset + at);
      const auto kind = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_name == 0 || kind == STT_FILE || kind == STT_SECTION) continue;
      auto& list = symbol.st_shndx == SHN_UNDEF ? result.undefined : result.defined;
      list.push_back(file.text(names + symbol.st_name));
      list.back().resize(std::min(list.back().find('@'), list.back().size()));  // its version
    }
  }
  return result;
}

bool is_of_library(const std::string& symbol, const std::string& word) {
  return symbol.find(word) != std::string::npos || (word == "blas" && is_of_blas(symbol));
}

void expect_none_of(const std::vector<std::string>& forbidden, const ObjectSymbols& symbols) {
  for (const auto* names : {&symbols.undefined, &symbols.defined}) {
    for (const std::string& word : forbidden) {
      const auto found = std::ranges::find_if(
          *names, [&](const std::string& name) { return is_of_library(name, word); });
      if (found == names->end()) continue;
      throw JudgeFault("forbidden symbol", fmt::format("it {} '{}', and '{}' is forbidden",
                                                       names == &symbols.defined ? "has" : "calls",
                                                       printable(*found), printable(word)));
    }
  }
}

}  // namespace d5::detail
