// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "d5/core/entries/option.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "level1_network/source/fitting_sizes.hpp"
#include "level1_network/source/made_inputs.hpp"
#include "level1_network/source/made_values.hpp"
#include "level1_network/source/open_dims.hpp"

namespace d5 {
namespace {

/// Whether an input is what exporters of decoders call so: integers, 1 for each token to attend to.
/// A mask of ones: zeros within, summed to a length, would be a text with holes.
bool is_attention_mask(const std::string& name, const ValueDesc& desc) {
  return name == "attention_mask" && desc.is_tensor() &&
         (desc.tensor.dtype == DType::int64 || desc.tensor.dtype == DType::int32);
}

/// Value ranges of fed inputs.
ValueRanges ranges_of(const Network& network, const std::map<std::string, ValueDesc>& descs) {
  constexpr std::int64_t kFew = 64;
  ValueDescs known;
  for (const auto& [name, desc] : descs) {
    if (desc.is_tensor()) known[name] = desc;
  }
  ValueRanges ranges = value_ranges(network.graph(), infer_graph(network.graph(), known));
  for (const auto& [name, desc] : descs) {
    if (is_attention_mask(name, desc)) ranges[name] = {.least = 1, .most = 1};
  }
  KnownValues settled;  // values that decide branches
  for (const auto& [name, range] : ranges) {
    const TensorDesc& desc = descs.at(name).tensor;
    if (range.least != range.most || desc.shape.elements() > kFew) continue;
    settled[name] = made_value(name, desc, range, 0);
  }
  if (settled.empty()) return ranges;
  ValueRanges found =
      value_ranges(network.graph(), infer_graph(network.graph(), known, std::move(settled)));
  for (const auto& [name, range] : ranges) {
    if (is_attention_mask(name, descs.at(name))) found[name] = range;
  }
  return found;
}

bool is_read(const Network& network, const std::string& input) {
  return !network.consumers(input).empty() ||
         std::ranges::count(network.output_names(), input) != 0;
}

/// Names of the axes of an input of any rank, as many as have sizes; its first if none has.
std::vector<std::string> axes_asked_for(const std::string& input, const OpenSizes& sizes) {
  std::vector<std::string> names{axis_name(input, 0)};
  while (sizes.by_name.contains(names.back())) names.push_back(axis_name(input, names.size()));
  return names;
}

}  // namespace

void expect_taken(const Network& network, const OpenSizes& sizes) {
  expect_positive(sizes);
  std::vector<std::string> known;
  for (const OpenDim& dim : open_dims(network)) known.push_back(dim.name);
  const auto any_rank = inputs_of_any_rank(network);
  for (const auto& input : any_rank) {
    const auto axes = axes_asked_for(input, sizes);
    known.insert(known.end(), axes.begin(), axes.end());
  }
  for (const auto& [name, size] : sizes.by_name) {
    if (std::ranges::find(known, name) == known.end()) {
      throw_unknown_name("open dimension", name, known);
    }
  }
  const bool has_batch =
      std::ranges::any_of(network.graph().inputs, [&](const onnx::ValueInfo& info) {
        const auto& dims = info.type.dims;
        const auto* rows = dims.empty() ? nullptr : std::get_if<std::int64_t>(&dims.front());
        return rows && *rows == sizes.batch;
      });
  if (sizes.batch != 1 && known.empty() && any_rank.empty() && !has_batch) {
    throw ValueError(
        fmt::format("a batch of {} cannot be set: the model leaves no dimension open; 'd5 net "
                    "show' prints its sizes",
                    sizes.batch));
  }
}

std::vector<OpenSizes> sizes_of_models(const std::vector<std::string>& models,
                                       const OpenSizes& sizes) {
  std::vector<OpenSizes> all(models.size(), sizes);
  if (models.size() < 2 || sizes.by_name.empty()) return all;
  std::set<std::string> known;
  for (std::size_t i = 0; i < models.size(); ++i) {
    try {
      const std::vector<OpenDim> dims = open_dims(open_model(models[i]));
      for (const OpenDim& dim : dims) known.insert(dim.name);
      std::erase_if(all[i].by_name, [&](const auto& one) {
        return std::ranges::none_of(dims,
                                    [&](const OpenDim& dim) { return is_meant(dim, one.first); });
      });
    } catch (const Error&) {  // its row says so
    }
  }
  for (const auto& [name, size] : sizes.by_name) {
    const bool is_taken =
        std::ranges::any_of(all, [&](const OpenSizes& one) { return one.by_name.contains(name); });
    if (!is_taken) throw_unknown_name("open dimension", name, {known.begin(), known.end()});
  }
  return all;
}

OpenSizes with_named_batch(const Network& network, const OpenSizes& given) {
  expect_positive(given);
  const OpenSizes sizes = sizes_by_names(network, given);
  const auto dims = open_dims(network);
  const auto is_named = [&](const OpenDim& dim) { return sizes.by_name.contains(dim.name); };
  if (dims.empty() || !std::ranges::all_of(dims, is_named)) return sizes;
  const auto first = std::ranges::find(dims, true, &OpenDim::is_first);
  if (first == dims.end()) return sizes;
  OpenSizes result = sizes;
  result.batch = sizes.by_name.at(first->name);
  if (sizes.batch == 1 || sizes.batch == result.batch) return result;
  throw ValueError(fmt::format(
      "{} and {}: the batch has two sizes; leave out one", option_word("batch", sizes.batch),
      option_word("dim", fmt::format("{}={}", printable(first->name), result.batch))));
}

OpenSizes with_named_batch(const std::string& model, const OpenSizes& sizes) {
  expect_positive(sizes);
  if (sizes.by_name.empty()) return sizes;
  std::optional<Network> network;
  try {
    network.emplace(open_model(model));
  } catch (const Error&) {  // its row says so
    return sizes;
  }
  return with_named_batch(*network, sizes);
}

ValueMap made_inputs(const Network& network, const OpenSizes& sizes, const ValueMap& given,
                     std::uint64_t seed, const InputDrawing& drawing) {
  ValueMap values;
  const auto descs = sized_descs(network, sizes);
  const auto is_made = [&](const auto& input) { return !given.contains(input.first); };
  if (std::ranges::none_of(descs, is_made)) return values;
  const ValueRanges ranges = ranges_of(network, descs);
  for (const auto& info : network.graph().inputs) {
    const auto place = descs.find(info.name);
    if (place == descs.end() || !is_made(*place)) continue;
    const ValueDesc& desc = place->second;
    if (!desc.is_tensor() && !is_read(network, info.name)) continue;
    if (!desc.is_tensor()) {
      throw Unsupported(
          fmt::format("input '{}' is {}: no random values for it; give them, {}, "
                      "or use an ONNX test folder, which brings its own",
                      printable(info.name), onnx::to_string(info.type),
                      option_word("input", printable(info.name) + "=FILE.pb")));
    }
    const auto range = ranges.find(info.name);
    values[info.name] = made_value(
        info.name, desc.tensor, range == ranges.end() ? std::nullopt : std::optional(range->second),
        seed, drawing);
  }
  return values;
}

std::map<std::string, ValueDesc> input_descs(const Network& network, const OpenSizes& given) {
  const OpenSizes sizes = sizes_by_names(network, given);
  expect_taken(network, sizes);
  return sized_descs(network, sizes);
}

ValueMap random_inputs(const Network& network, const OpenSizes& given, std::uint64_t seed) {
  const OpenSizes sizes = sizes_by_names(network, given);
  expect_taken(network, sizes);
  return made_inputs(network, fitting_sizes(network, sizes), {}, seed);
}

}  // namespace d5
