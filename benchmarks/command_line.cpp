// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/command_line.hpp"

#include <CLI/CLI.hpp>
#include <type_traits>

namespace d5::benchmarks {

CommandLine::CommandLine(const std::string& what) : app_(std::make_unique<CLI::App>(what)) {}
CommandLine::~CommandLine() = default;

void CommandLine::add(const std::string& name, Target target, const std::string& help) {
  std::visit(
      [&](auto* value) {
        using T = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          app_->add_flag(name, *value, help);
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                             std::is_same_v<T, std::vector<std::string>>) {
          app_->add_option(name, *value, help)->delimiter(',');
        } else {
          app_->add_option(name, *value, help);
        }
      },
      target);
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app_->exit(error);
  }
}

}  // namespace d5::benchmarks
