// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/execution/feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

/// The size of each named dimension, and the input that defined it first.
using NamedDims = std::map<std::string, std::pair<std::int64_t, std::string>>;

/// Exporters write "?" or "-1" for each dimension of any size.
bool is_name(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
}

[[noreturn]] void throw_shape(const onnx::ValueInfo& input, const Tensor& tensor,
                              const std::string& why) {
  throw ShapeError(fmt::format("input '{}' is {}, but {} was fed{}", printable(input.name),
                               to_string(input.type), to_string(tensor.desc()), why));
}

/// The call of NumPy that makes what is expected; empty for a type that NumPy lacks.
std::string call_of_numpy(DType expected) {
  const std::string name(name_of(expected));
  const bool is_known = !name.starts_with("bfloat") && !name.starts_with("float8") &&
                        !name.ends_with("int4") && name != "string" && name != "undefined";
  return is_known
             ? fmt::format("; np.asarray(x, np.{}) makes it so", name == "bool" ? "bool_" : name)
             : "";
}

void check_tensor(const onnx::ValueInfo& input, const Tensor& tensor, NamedDims& named) {
  if (input.type.dtype != DType::undefined && tensor.dtype() != input.type.dtype) {
    throw TypeError(fmt::format("input '{}' is {}, but {} was fed{}", printable(input.name),
                                to_string(input.type), to_string(tensor.desc()),
                                call_of_numpy(input.type.dtype)));
  }
  if (!input.type.has_shape) return;
  if (tensor.shape().rank() != input.type.dims.size()) throw_shape(input, tensor, "");
  for (std::size_t i = 0; i < input.type.dims.size(); ++i) {
    const std::int64_t given = tensor.shape()[i];
    if (const auto* number = std::get_if<std::int64_t>(&input.type.dims[i])) {
      if (given != *number) throw_shape(input, tensor, "");
    } else if (const auto* name = std::get_if<std::string>(&input.type.dims[i])) {
      if (!is_name(*name)) continue;
      const auto [place, fresh] = named.try_emplace(*name, given, input.name);
      if (!fresh && place->second.first != given) {
        throw_shape(input, tensor,
                    fmt::format("; {} is {} in input '{}'", printable(*name), place->second.first,
                                printable(place->second.second)));
      }
    }
  }
}

bool is_read(const Network& network, const std::string& input) {
  return !network.consumers(input).empty() ||
         std::ranges::count(network.output_names(), input) != 0;
}

}  // namespace

void check_fed(const Network& network, const ValueMap& fed) {
  const auto names = network.input_names();
  for (const auto& [name, value] : fed) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw_unknown_name("input", name, names);
    }
  }
  NamedDims named;
  for (const auto& input : network.graph().inputs) {
    const auto place = fed.find(input.name);
    if (place == fed.end()) {
      if (network.graph().initializers.contains(input.name)) continue;  // a default
      if (!is_read(network, input.name)) continue;
      throw NotFound(
          fmt::format("input '{}' ({}) was not fed", printable(input.name), to_string(input.type)));
    }
    const Value& value = place->second;
    if (input.type.kind == ValueKind::tensor && value.kind() == ValueKind::optional &&
        !value.optional().value) {
      throw TypeError(fmt::format("input '{}' is {}, but nothing (None) was fed",
                                  printable(input.name), to_string(input.type)));
    }
    const bool kind_fits = input.type.kind == ValueKind::none || input.type.kind == value.kind();
    if (!kind_fits || value.kind() == ValueKind::none) {
      throw TypeError(
          fmt::format("input '{}' is {}, but {} was fed{}", printable(input.name),
                      to_string(input.type), to_string(value.desc()),
                      input.type.kind == ValueKind::tensor ? call_of_numpy(input.type.dtype) : ""));
    }
    if (value.is_tensor()) check_tensor(input, value.tensor(), named);
  }
}

}  // namespace d5
