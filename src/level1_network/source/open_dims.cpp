// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/open_dims.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <set>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

/// Inputs that are fed.
std::vector<const onnx::ValueInfo*> fed_inputs(const Network& network) {
  const auto names = network.input_names();
  std::vector<const onnx::ValueInfo*> infos;
  for (const auto& info : network.graph().inputs) {
    if (std::ranges::find(names, info.name) != names.end()) infos.push_back(&info);
  }
  return infos;
}

/// Empty if the dimension is fixed. Exporters write "?" for an open dimension without a name.
std::string name_of_dim(const onnx::ValueInfo& info, std::size_t axis) {
  const onnx::Dim& dim = info.type.dims[axis];
  if (std::holds_alternative<std::int64_t>(dim)) return "";
  const auto* name = std::get_if<std::string>(&dim);
  return name && !name->empty() && *name != "?" ? *name : axis_name(info.name, axis);
}

bool is_of_any_rank(const onnx::ValueInfo& info) {
  return info.type.kind == ValueKind::tensor && !info.type.has_shape &&
         info.type.dtype != DType::undefined;
}

/// Size of a dimension, or a number; nothing for another name.
std::optional<std::int64_t> size_of_term(const std::string& term, const std::vector<OpenDim>& dims,
                                         const OpenSizes& sizes) {
  std::int64_t number = 0;
  const char* const end = term.data() + term.size();
  if (const auto read = std::from_chars(term.data(), end, number);
      read.ec == std::errc() && read.ptr == end) {
    return number;
  }
  const auto own = sizes.by_name.find(term);
  if (own != sizes.by_name.end()) return own->second;
  const bool is_known = std::ranges::find(dims, term, &OpenDim::name) != dims.end();
  return is_known ? std::optional(sizes.batch) : std::nullopt;
}

/// Sizes in `sizes` for the first axes of an input; empty if there are none.
Shape shape_by_axes(const std::string& input, const OpenSizes& sizes) {
  Shape shape;
  for (;;) {
    const auto size = sizes.by_name.find(axis_name(input, shape.rank()));
    if (size == sizes.by_name.end()) return shape;
    shape.push_back(size->second);
  }
}

}  // namespace

std::vector<OpenDim> open_dims(const Network& network) {
  std::vector<OpenDim> dims;
  for (const auto* info : fed_inputs(network)) {
    for (std::size_t axis = 0; axis < info->type.dims.size(); ++axis) {
      const std::string name = name_of_dim(*info, axis);
      if (name.empty()) continue;
      auto place = std::ranges::find(dims, name, &OpenDim::name);
      if (place == dims.end()) place = dims.insert(place, OpenDim{.name = name});
      place->places.emplace_back(info->name, axis);
      place->is_first = place->is_first || axis == 0;
    }
  }
  return dims;
}

bool is_meant(const OpenDim& dim, const std::string& word) {
  const auto fits = [&](const std::string& name) {
    return word == name || fnmatch(word.c_str(), name.c_str(), 0) == 0;
  };
  return fits(dim.name) || std::ranges::any_of(dim.places, [&](const auto& place) {
           return fits(axis_name(place.first, place.second));
         });
}

OpenSizes sizes_by_names(const Network& network, const OpenSizes& sizes) {
  OpenSizes named{.batch = sizes.batch};
  std::map<std::string, std::string> words;  // by the name of their dimension
  std::set<std::string> meant;
  for (const OpenDim& dim : open_dims(network)) {
    if (const auto own = sizes.by_name.find(dim.name); own != sizes.by_name.end()) {
      named.by_name.insert(*own);
      meant.insert(dim.name);
    }
    for (const auto& [word, size] : sizes.by_name) {
      if (!is_meant(dim, word)) continue;
      meant.insert(word);
      if (sizes.by_name.contains(dim.name)) continue;
      const auto [place, is_new] = named.by_name.emplace(dim.name, size);
      if (is_new) words[dim.name] = word;
      if (place->second == size) continue;
      throw ValueError(
          fmt::format("{} and {} give dimension {} of input '{}' two sizes; give one",
                      option_word("dim", words.at(dim.name) + "=" + std::to_string(place->second)),
                      option_word("dim", word + "=" + std::to_string(size)),
                      dim.places.front().second, printable(dim.places.front().first)));
    }
  }
  for (const auto& [word, size] : sizes.by_name) {
    if (!meant.contains(word)) named.by_name.emplace(word, size);
  }
  return named;
}

OpenSizes with_sums(const Network& network, const OpenSizes& sizes) {
  const std::vector<OpenDim> dims = open_dims(network);
  OpenSizes summed = sizes;
  for (const OpenDim& dim : dims) {
    if (sizes.by_name.contains(dim.name) || dim.name.find('+') == std::string::npos) continue;
    std::int64_t sum = 0;
    for (const auto term : std::views::split(dim.name, '+')) {
      std::string name(term.begin(), term.end());
      std::erase(name, ' ');
      const auto size = size_of_term(name, dims, sizes);
      sum = size && sum >= 0 ? sum + *size : -1;
    }
    if (sum > 0) summed.by_name[dim.name] = sum;
  }
  return summed;
}

std::string axis_name(const std::string& input, std::size_t axis) {
  return fmt::format("{}:{}", input, axis);
}

std::vector<std::string> inputs_of_any_rank(const Network& network) {
  std::vector<std::string> names;
  for (const auto* info : fed_inputs(network)) {
    if (is_of_any_rank(*info)) names.push_back(info->name);
  }
  return names;
}

std::map<std::string, ValueDesc> sized_descs(const Network& network, const OpenSizes& sizes) {
  std::map<std::string, ValueDesc> descs;
  for (const auto* info : fed_inputs(network)) {
    ValueDesc& desc = descs[info->name];
    if (is_of_any_rank(*info)) {
      const Shape shape = shape_by_axes(info->name, sizes);
      if (shape.rank() > 0) desc = TensorDesc{info->type.dtype, shape};
      continue;
    }
    if (info->type.kind != ValueKind::tensor || !info->type.has_shape) continue;
    Shape shape;
    for (std::size_t axis = 0; axis < info->type.dims.size(); ++axis) {
      const auto* size = std::get_if<std::int64_t>(&info->type.dims[axis]);
      const auto place = sizes.by_name.find(name_of_dim(*info, axis));
      const bool has_own = !size && place != sizes.by_name.end();
      shape.push_back(size ? *size : has_own ? place->second : sizes.batch);
    }
    desc = TensorDesc{info->type.dtype, shape};
  }
  return descs;
}

}  // namespace d5
