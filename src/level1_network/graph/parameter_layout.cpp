// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/parameter_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "d5/core/errors/error.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {

bool may_be_trained(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 ||
         dtype == DType::bfloat16;
}

ParameterLayout lay_out_parameters(const onnx::Graph& graph, const std::vector<std::string>& names,
                                   const std::function<Arena(std::size_t bytes)>& make_arena) {
  struct Place {
    std::size_t node, input;
    std::string name;
  };
  std::map<std::string, Place> places;
  for (const auto& name : names) places[name] = {0, 0, name};  // unread parameters come last
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const auto reads = read_names(graph.nodes[n]);
    for (std::size_t i = reads.size(); i-- > 0;) {
      if (const auto place = places.find(reads[i]); place != places.end()) {
        place->second = {n + 1, i, reads[i]};
      }
    }
  }
  std::vector<Place> order;
  for (auto& [name, place] : places) order.push_back(std::move(place));
  std::stable_sort(order.begin(), order.end(), [](const Place& a, const Place& b) {
    return a.node != b.node ? a.node > b.node : a.input < b.input;
  });

  std::size_t bytes = 0;
  for (const auto& place : order) {
    bytes += Arena::aligned(graph.initializers.at(place.name).bytes());
  }
  ParameterLayout layout{{}, make_arena(bytes), make_arena(bytes)};
  std::size_t offset = 0;
  for (const auto& place : order) {
    const Tensor& value = graph.initializers.at(place.name);
    layout.parameters.push_back({place.name, layout.values.at(offset, value.desc()),
                                 layout.gradients.at(offset, value.desc())});
    offset += Arena::aligned(value.bytes());
  }
  return layout;
}

void copy_values(const onnx::Graph& graph, std::vector<Parameter>& parameters) {
  for (Parameter& parameter : parameters) {
    parameter.value.copy_from(graph.initializers.at(parameter.name));
  }
}

Tensor as_vector(const Arena& arena, const std::vector<Parameter>& parameters) {
  const DType dtype = parameters.empty() ? DType::float32 : parameters.front().value.dtype();
  for (const auto& parameter : parameters) {
    if (parameter.value.dtype() != dtype) {
      throw TypeError(
          fmt::format("parameters '{}' and '{}' are {} and {}; go through them one by one",
                      printable(parameters.front().name), printable(parameter.name), name_of(dtype),
                      name_of(parameter.value.dtype())));
    }
  }
  return arena.at(0, {dtype, {std::int64_t(arena.bytes() / size_of(dtype))}});
}

}  // namespace d5
