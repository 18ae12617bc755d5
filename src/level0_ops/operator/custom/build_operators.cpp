// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/build_operators.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "core/files/cache_folder.hpp"
#include "core/files/sha256.hpp"
#include "core/process/program_run.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "level0_ops/operator/custom/built_operators.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// Compiler and flags for a source's file ending.
struct Language {
  std::string_view ending;
  const char *variable, *compiler;  ///< environment variable, and default compiler
  const char* flags;
  const char* flags_variable;  ///< environment variable with additional flags
  std::string_view package;    ///< package with the compiler
};
constexpr const char* kCxxFlags = "-std=c++20 -O2 -fPIC -fvisibility=hidden -shared";
constexpr std::string_view kCxxPackage = "g++ or clang (Debian: apt install g++)";
constexpr Language kLanguages[] = {
    {".c", "CC", "cc", "-std=gnu11 -O2 -fPIC -fvisibility=hidden -shared", "CFLAGS",
     "gcc or clang (Debian: apt install gcc)"},
    {".cpp", "CXX", "c++", kCxxFlags, "CXXFLAGS", kCxxPackage},
    {".cc", "CXX", "c++", kCxxFlags, "CXXFLAGS", kCxxPackage},
    {".cxx", "CXX", "c++", kCxxFlags, "CXXFLAGS", kCxxPackage},
    {".cu", "CUDACXX", "nvcc", "-std=c++17 -O2 -Xcompiler=-fPIC,-fvisibility=hidden -shared",
     "CUDAFLAGS", "NVIDIA's CUDA toolkit"},
};

const Language* language_of(const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  const auto* found = std::ranges::find(kLanguages, ending, &Language::ending);
  return found == std::end(kLanguages) ? nullptr : found;
}

std::string variable_or(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

/// The first lines of a compiler's errors as safe text. Later ones follow from the first, and a
/// preprocessor's output is no error.
std::string lines_of(const detail::ProgramRun& done) {
  constexpr int kMostLines = 40;
  std::istringstream stream(done.error.empty() ? done.output : done.error);
  std::string result;
  int lines = 0;
  for (std::string line; std::getline(stream, line);) {
    if (lines++ < kMostLines) result += "\n" + printable_message(line);
  }
  if (lines > kMostLines) result += fmt::format("\n({} more lines)", lines - kMostLines);
  return result;
}

using Definitions = std::map<std::string, std::string>;

void expect_names(const std::string& source, const Definitions& definitions) {
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (const auto& [name, value] : definitions) {
    if (!name.empty() && std::ranges::all_of(name, is_letter) && (name[0] < '0' || name[0] > '9')) {
      continue;
    }
    throw ValueError(fmt::format("operators '{}': '{}' is not the name of a macro, such as DTYPE",
                                 printable(source), printable(name)));
  }
}

/// A source and its compiler.
class Compilation {
 public:
  Compilation(std::string source, const Language& language, const Definitions& definitions,
              const BuildLimits& limits)
      : source_(std::move(source)),
        compiler_(variable_or(language.variable, language.compiler)),
        language_(language),
        limits_(limits) {
    CommandLine own;
    for (const auto& [name, value] : definitions) own.word("-D" + name + "=" + value);
    // User flags come last, so that they override d5's.
    flags_ = fmt::format("{} {}{}", language.flags, variable_or(language.flags_variable, ""),
                         own.text());
    command_ = fmt::format("{} {}{}", compiler_, flags_,
                           CommandLine().word("-I" + header_folder()).word(source_).text());
    version_ = asked(compiler_ + " --version");
  }

  /// Everything that determines the library: the compiler's version, the command, and the
  /// preprocessed source.
  [[nodiscard]] std::string key() const {
    const std::string whole = asked(command_ + " -E");
    return detail::Sha256().add(version_).add(command_).add(libraries()).add(whole).digest();
  }
  /// The first line of the compiler's version.
  [[nodiscard]] std::string version() const { return version_.substr(0, version_.find('\n')); }
  [[nodiscard]] std::string flags() const { return flags_ + libraries(); }

  void write(const std::string& library) const {
    (void)asked(command_ + CommandLine().option("-o", library).text() + libraries());
  }

 private:
  static std::string libraries() { return " " + variable_or("LDLIBS", "") + " -lm"; }

  /// The compiler's output. Throws: as `build_operators`.
  [[nodiscard]] std::string asked(const std::string& line) const {
    constexpr int kNoCommand = 127;
    constexpr std::uint64_t kKibibyte = 1024;
    const std::string limited =
        limits_.bytes > 0 ? fmt::format("ulimit -v {}; {}", limits_.bytes / kKibibyte, line) : line;
    detail::ProgramRun done =
        detail::run_program({.words = {"/bin/sh", "-c", limited}}, limits_.seconds);
    if (done.is_late) {
      throw FormatError(fmt::format("operators '{}' cannot be compiled: {} needs more than {} s",
                                    printable(source_), printable(compiler_), limits_.seconds));
    }
    const int status = done.end.shell_status();
    if (status == 0) return std::move(done.output);
    if (status == kNoCommand) {
      throw Unsupported(fmt::format(
          "operators '{}' cannot be compiled: there is no compiler '{}'; install {}, or set {}",
          printable(source_), printable(compiler_), language_.package, language_.variable));
    }
    throw FormatError(fmt::format("operators '{}' cannot be compiled; {} says:{}",
                                  printable(source_), printable(compiler_), lines_of(done)));
  }

  std::string source_, compiler_, flags_, command_, version_;
  const Language& language_;
  BuildLimits limits_;
};

/// The path of a source given as text; equal texts share a file.
std::string file_of(const std::string& text) {
  const fs::path file = fs::path(detail::cache_folder("operators")) /
                        fmt::format("source-{:.16}.cpp", detail::sha256(text));
  if (!fs::exists(file)) write_file(file.string(), text);
  return file.string();
}

/// A unique name beside `path`.
std::string beside(const std::string& path) {
  static std::atomic<int> count = 0;
  return fmt::format("{}.{}.{}", path, getpid(), count++);
}

constexpr std::size_t kDigits = 64;

/// Appends its digest to a library, whose loader ignores what follows the last section.
void seal(const std::string& library) {
  const std::string content = read_file(library);
  write_file(library, content + detail::sha256(content));
}

/// Whether the library is there, and is what was sealed.
bool is_intact(const std::string& library) {
  if (!fs::exists(library)) return false;
  const std::string content = read_file(library);
  if (content.size() < kDigits) return false;
  const std::string_view all = content, body = all.substr(0, all.size() - kDigits);
  return all.substr(body.size()) == detail::sha256(body);
}

}  // namespace

bool is_operator_source(const std::string& path) { return language_of(path) != nullptr; }

detail::BuiltOperators detail::built_operators(
    const std::string& source, const std::map<std::string, std::string>& definitions,
    const BuildLimits& limits) {
  expect_names(source, definitions);
  const bool is_text = source.find('\n') != std::string::npos;
  const std::string path = is_text ? file_of(source) : fs::absolute(source).string();
  const Language* language = language_of(path);
  if (!language) {
    throw Unsupported(fmt::format(
        "operators '{}': expected a source in C (.c), C++ (.cpp, .cc, .cxx) or CUDA (.cu)",
        printable(source)));
  }
  if (!fs::exists(path)) {
    throw IoError(fmt::format("operators '{}': there is no such file", printable(source)));
  }
  const Compilation compilation(path, *language, definitions, limits);
  const std::string library =
      (fs::path(detail::cache_folder("operators")) /
       fmt::format("{}-{:.16}.so", fs::path(path).stem().string(), compilation.key()))
          .string();
  if (!is_intact(library)) {
    // Renamed when complete, so that no reader sees a partial library.
    const std::string unfinished = beside(library);
    compilation.write(unfinished);
    seal(unfinished);
    fs::rename(unfinished, library);
  }
  return {path, library, compilation.version(), compilation.flags()};
}

std::string build_operators(const std::string& source, const std::string& output,
                            const std::map<std::string, std::string>& definitions,
                            const BuildLimits& limits) {
  const std::string library = detail::built_operators(source, definitions, limits).library;
  if (output.empty()) return library;
  write_file(output, read_file(library));
  return output;
}

}  // namespace d5
