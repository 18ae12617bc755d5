// SPDX-License-Identifier: Apache-2.0
#include "apps/model_argument.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

#include "apps/options.hpp"
#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/random.hpp"
#include "d5/onnx/file.hpp"

namespace d5::app {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::int64_t> sizes_of(const ModelArgument& argument) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& word : argument.dims) {
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
    sizes[word.substr(0, equals)] = size;
  }
  return sizes;
}

Tensor random_tensor(const std::string& name, DType dtype, const Shape& shape, std::uint64_t seed) {
  Tensor tensor = Tensor::empty(dtype, shape);
  RandomStream random(seed, stream_of(name));
  using Drawn = Join<FloatTypes, Join<IntegerTypes, Types<bool>>>;
  dispatch(Drawn{}, dtype, "random values for input '" + printable(name) + "'", [&]<class T>() {
    for (T& value : tensor.span<T>()) {
      if constexpr (std::is_same_v<T, bool>) {
        value = random.below(2) == 1;
      } else if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(random.below(10));
      } else {
        value = static_cast<T>(random.normal());
      }
    }
  });
  return tensor;
}

}  // namespace

void add_model_argument(CLI::App& command, ModelArgument& argument) {
  command
      .add_option("MODEL", argument.model,
                  "an .onnx file, an ONNX test folder, or a built-in network ('d5 list networks')")
      ->required();
  command
      .add_option("--batch", argument.batch, "size of each dimension that the model leaves open")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  command
      .add_option("--dim", argument.dims,
                  "size of one open dimension, by its name; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=SIZE");
}

bool is_test_folder(const std::string& model) {
  std::error_code ignored;
  return fs::is_directory(model, ignored);
}

Network open_network(const ModelArgument& argument, const Settings& wishes) {
  const std::string& model = argument.model;
  std::error_code ignored;
  if (is_test_folder(model)) return Network::load(onnx::open_test_folder(model).model_path);
  if (fs::exists(model, ignored) || model.ends_with(".onnx") ||
      model.find('/') != std::string::npos) {
    return Network::load(model);
  }
  const ModelEntry& entry = models().at(model);
  Settings settings;
  for (const auto& [name, value] : wishes.values()) entry.offer(settings, name, value);
  return entry.make(settings);
}

ValueMap random_inputs(const Network& network, const ModelArgument& argument, std::uint64_t seed) {
  const auto sizes = sizes_of(argument);
  const auto names = network.input_names();
  ValueMap values;
  for (const auto& info : network.graph().inputs) {
    if (std::ranges::find(names, info.name) == names.end()) continue;
    if (info.type.kind != ValueKind::tensor || !info.type.has_shape) {
      throw Unsupported(
          fmt::format("input '{}' is {}: no random values for it; use an ONNX test "
                      "folder, which brings its own",
                      printable(info.name), onnx::to_string(info.type)));
    }
    Shape shape;
    for (const auto& dim : info.type.dims) {
      const auto* name = std::get_if<std::string>(&dim);
      const auto* size = std::get_if<std::int64_t>(&dim);
      const auto place = name ? sizes.find(*name) : sizes.end();
      shape.push_back(size ? *size : place != sizes.end() ? place->second : argument.batch);
    }
    values[info.name] = random_tensor(info.name, info.type.dtype, shape, seed);
  }
  return values;
}

std::shared_ptr<GraphExecutor> open_executor(const std::string& word, Network network,
                                             std::uint64_t seed) {
  ExecutorOptions options;
  options.seed = seed;
  if (const auto colon = word.find(':'); colon != std::string::npos) {
    options.frameworks = {word.substr(0, colon)};
    const auto& own = framework(options.frameworks.front()).part<ExecutorRegistry>();
    return own.at(word.substr(colon + 1)).make(std::move(network), options);
  }
  options.frameworks = frameworks_in(word);
  return make_executor(std::move(network), options);
}

std::string loss_of(const Network& network) {
  const auto outputs = network.output_names();
  return std::ranges::find(outputs, "loss") == outputs.end() ? "" : "loss";
}

}  // namespace d5::app
