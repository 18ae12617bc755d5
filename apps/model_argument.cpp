// SPDX-License-Identifier: Apache-2.0
#include "apps/model_argument.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/value_checks.hpp"
#include "d5/core/entry_words.hpp"
#include "d5/core/error.hpp"

namespace d5::app {

void add_model_argument(CLI::App& command, std::string& model) {
  command
      .add_option("MODEL", model,
                  "an .onnx file, an ONNX test folder, a built-in network ('d5 list networks'), or "
                  "one operator, quoted ('Gemm 64x512 512x32')")
      ->required();
}

void add_models_argument(CLI::App& command, ModelsArgument& argument) {
  command
      .add_option("MODEL", argument.models,
                  "an .onnx file, an ONNX test folder, a folder of such, a built-in network "
                  "('d5 list networks'), one operator, quoted ('Gemm 64x512 512x32'), or a .txt "
                  "file of such")
      ->required();
}

void add_size_options(CLI::App& command, SizeOptions& options) {
  command.add_option("--batch", options.batch, "size of each dimension that the model leaves open")
      ->transform(whole_number(1))
      ->option_text("N");
  add_dim_option(command, options);
}

void add_dim_option(CLI::App& command, SizeOptions& options) {
  command
      .add_option("--dim", options.dims, "size of one open dimension, by its name; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=SIZE");
}

void add_transform_option(CLI::App& command, TransformOptions& options) {
  command
      .add_option("--transform", options.transforms,
                  "change the network first ('d5 list transforms'), each as NAME[:KEY=VALUE]...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...");
}

TransformChain chain_of(const TransformOptions& options) {
  TransformChain chain;
  for (const auto& words : options.transforms) {
    chain.push_back(entry_of_words("transform", words));
  }
  (void)kept_by(chain);  // a misspelt name or setting is bad usage, and no finding of a run
  return chain;
}

void refuse_sizes(const SizeOptions& options, const std::string& model) {
  if (options.batch == 1 && options.dims.empty()) return;
  throw ValueError(fmt::format("--batch and --dim are of inputs that d5 makes; '{}' brings its own",
                               printable(model)));
}

OpenSizes sizes_of(const SizeOptions& options) {
  OpenSizes sizes{.batch = options.batch};
  for (const auto& word : options.dims) {
    const auto equals = word.find('=');
    std::size_t read = 0;
    std::int64_t size = 0;
    try {
      size = std::stoll(equals == std::string::npos ? "" : word.substr(equals + 1), &read);
    } catch (const std::exception&) {
    }
    if (size < 1 || equals + 1 + read != word.size()) {
      throw ValueError(
          fmt::format("--dim '{}': expected NAME=SIZE with a positive size", printable(word)));
    }
    const std::string name = word.substr(0, equals);
    if (!sizes.by_name.emplace(name, size).second) {
      throw ValueError(fmt::format("--dim '{}': '{}' has a size already; give it once",
                                   printable(word), printable(name)));
    }
  }
  return sizes;
}

}  // namespace d5::app
