// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/judged_source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "core/files/sha256.hpp"
#include "core/process/program_run.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "level0_ops/operator/custom/built_operators.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// A file that lies beside d5's plug-ins.
std::string beside_plugins(const std::string& name) {
  for (const auto& folder : plugin_path()) {
    const std::string file = folder + "/" + name;
    if (fs::exists(file)) return file;
  }
  throw NotFound(
      fmt::format("there is no {} beside d5's plug-ins ('d5 env' shows where they are); "
                  "build the target d5_judged_kernel, or set D5_PLUGIN_PATH",
                  name));
}

JudgedSource python_source(const std::string& source) {
  if (!fs::exists(source)) {
    throw IoError(fmt::format("source '{}': there is no such file", printable(source)));
  }
  constexpr const char* kAsk =
      "import platform, sys, numpy; print(sys.executable, sys.prefix, sys.base_prefix, "
      "f'Python {platform.python_version()}, NumPy {numpy.__version__}', sep='\\n')";
  const ProgramRun asked = run_program({.words = {"python3", "-I", "-c", kAsk}});
  if (asked.end.shell_status() != 0) {
    throw Unsupported(fmt::format("source '{}': the python3 in $PATH has no NumPy: {}",
                                  printable(source), printable_message(asked.error)));
  }
  std::istringstream lines(asked.output);
  std::string interpreter, prefix, base, versions;
  std::getline(lines, interpreter);
  std::getline(lines, prefix);
  std::getline(lines, base);
  std::getline(lines, versions);
  return {.path = source,
          .file = fs::absolute(source).string(),
          .words = {interpreter, "-I", beside_plugins("judged_python.py"),
                    beside_plugins("d5_judged_confinement.so")},
          .readable = {prefix + "/lib/", base + "/lib/"},
          .sha256 = sha256_of_file(source),
          .compiler = versions};
}

}  // namespace

JudgedSource prepare_source(const std::string& source, const BuildLimits& limits) {
  if (fs::path(source).extension() == ".py") return python_source(source);
  BuiltOperators built = built_operators(source, {}, limits);
  if (source.find('\n') == std::string::npos) built.source = source;  // as it was given
  return {.path = built.source,
          .file = built.library,
          .words = {beside_plugins("d5_judged_kernel")},
          .sha256 = sha256_of_file(built.source),
          .compiler = built.compiler,
          .flags = built.flags};
}

}  // namespace d5::detail
