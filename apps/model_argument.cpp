// SPDX-License-Identifier: Apache-2.0
#include "apps/model_argument.hpp"

#include <CLI/CLI.hpp>

#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::app {

void add_model_argument(CLI::App& command, std::string& model) {
  command
      .add_option("MODEL", model,
                  ".onnx file, ONNX test folder, built-in network ('d5 list networks'), or one "
                  "operator, quoted ('Gemm 64x512 512x32')")
      ->required();
}

void add_models_argument(CLI::App& command, ModelsArgument& argument) {
  command
      .add_option(
          "MODEL", argument.models,
          ".onnx files, ONNX test folders, folders of them, built-in networks ('d5 list "
          "networks'), operators, quoted ('Gemm 64x512 512x32'), or .txt files of operators")
      ->required();
}

void add_size_options(CLI::App& command, SizeOptions& options) {
  command
      .add_option(
          "--batch", options.batch,
          "size of each open dimension of the model (by default 1, or one that the model takes)")
      ->transform(whole_number(1))
      ->option_text("N");
  add_dim_option(command, options);
}

void add_dim_option(CLI::App& command, SizeOptions& options) {
  command
      .add_option("--dim", options.dims,
                  "size of open dimensions: by a name, by input and axis (x:2), or by a pattern of "
                  "either (past_*:2); may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=SIZE");
}

void add_input_option(CLI::App& command, InputOptions& options) {
  command
      .add_option("--input", options.inputs,
                  "value of an input, from a NumPy or ONNX file, or values of several by their "
                  "names (.npz), instead of a test folder's or random ones; may be repeated")
      ->allow_extra_args(false)
      ->option_text("[NAME=]FILE.npy|pb|npz");
}

GivenInputs inputs_of(const InputOptions& options) {
  return {.values = {}, .files = input_files(options.inputs)};
}

void add_transform_option(CLI::App& command, TransformOptions& options) {
  command
      .add_option(
          "--transform", options.transforms,
          "graph transforms to apply first ('d5 list transforms'), each as NAME[:KEY=VALUE]...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...");
}

TransformChain chain_of(const TransformOptions& options) {
  return transform_chain(options.transforms);
}

OpenSizes sizes_of(const SizeOptions& options) {
  try {
    return open_sizes(options.dims, options.batch);
  } catch (const ValueError& error) {
    throw ValueError(std::string("--dim ") + error.what());
  }
}

}  // namespace d5::app
