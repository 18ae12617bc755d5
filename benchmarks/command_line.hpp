// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
}

namespace d5::benchmarks {

/// Options of a benchmark. CLI11 takes four seconds to compile, so one file serves all benchmarks.
class CommandLine {
 public:
  explicit CommandLine(const std::string& what);
  ~CommandLine();

  using Target = std::variant<bool*, int*, std::int64_t*, std::string*, std::vector<std::int64_t>*,
                              std::vector<std::string>*>;
  /// `target` keeps its value if the option is not given. A bool is a flag; a vector is a
  /// comma-separated list.
  void add(const std::string& name, Target target, const std::string& help);

  /// Exit status if the program ends here: help was requested, or an argument is invalid.
  [[nodiscard]] std::optional<int> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace d5::benchmarks
