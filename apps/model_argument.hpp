// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/network_inputs.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// Sizes of open dimensions of models. The same in all `d5 net` commands.
struct SizeOptions {
  std::int64_t batch = 1;         ///< size of every open dimension without one of its own
  std::vector<std::string> dims;  ///< "NAME=SIZE": sizes of single dimensions
};
/// Adds `--batch` and `--dim`, for commands that make inputs.
void add_size_options(CLI::App& command, SizeOptions& options);
/// `--dim` alone.
void add_dim_option(CLI::App& command, SizeOptions& options);
/// Throws: ValueError for a bad `--dim`.
[[nodiscard]] OpenSizes sizes_of(const SizeOptions& options);

/// The user's own inputs. The same in all `d5 net` commands that run or plan.
struct InputOptions {
  std::vector<std::string> inputs;  ///< NAME=FILE, or FILE
};
/// `--input`
void add_input_option(CLI::App& command, InputOptions& options);
/// Throws: ValueError for a bad `--input`.
[[nodiscard]] GivenInputs inputs_of(const InputOptions& options);

/// Graph transforms before a run. The same in all `d5 net` commands.
struct TransformOptions {
  std::vector<std::string> transforms;  ///< NAME[:KEY=VALUE]..., one after the other
};
/// `--transform`
void add_transform_option(CLI::App& command, TransformOptions& options);
/// Throws: NotFound, ValueError for an unknown transform or setting.
[[nodiscard]] TransformChain chain_of(const TransformOptions& options);

/// The argument MODEL (`open_model`).
void add_model_argument(CLI::App& command, std::string& model);

/// The argument MODEL with sizes, inputs and transforms.
struct ModelArgument : SizeOptions, InputOptions, TransformOptions {
  std::string model;
};

/// The argument MODEL... (`models_of`) with sizes, inputs and transforms, which all models share.
struct ModelsArgument : SizeOptions, InputOptions, TransformOptions {
  std::vector<std::string> models;
};
void add_models_argument(CLI::App& command, ModelsArgument& argument);

}  // namespace d5::app
