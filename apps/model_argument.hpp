// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level1_network/model_source.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// The sizes of dimensions that models leave open. The same in all `d5 net` commands.
struct SizeOptions {
  std::int64_t batch = 1;         ///< of every dimension that the model leaves open
  std::vector<std::string> dims;  ///< "NAME=SIZE", for those that are no batch
};
/// `--batch`, `--dim`: of commands that make inputs.
void add_size_options(CLI::App& command, SizeOptions& options);
/// `--dim` alone.
void add_dim_option(CLI::App& command, SizeOptions& options);
/// Throws: ValueError for a bad `--dim`.
[[nodiscard]] OpenSizes sizes_of(const SizeOptions& options);

/// How networks are changed before they are run. The same in all `d5 net` commands.
struct TransformOptions {
  std::vector<std::string> transforms;  ///< NAME[:KEY=VALUE]..., one after the other
};
/// `--transform`
void add_transform_option(CLI::App& command, TransformOptions& options);
/// Throws: NotFound, ValueError, for a name or setting that no transform has.
[[nodiscard]] TransformChain chain_of(const TransformOptions& options);

/// The argument MODEL (`open_model`).
void add_model_argument(CLI::App& command, std::string& model);

/// It, its sizes, and its transforms.
struct ModelArgument : SizeOptions, TransformOptions {
  std::string model;
};

/// The argument MODEL... (`models_of`), with the same of all.
struct ModelsArgument : SizeOptions, TransformOptions {
  std::vector<std::string> models;
};
void add_models_argument(CLI::App& command, ModelsArgument& argument);

}  // namespace d5::app
