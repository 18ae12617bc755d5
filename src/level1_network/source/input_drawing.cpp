// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/input_drawing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "level1_network/source/made_inputs.hpp"
#include "level1_network/source/open_dims.hpp"
#include "level1_network/source/size_trial.hpp"

namespace d5 {
namespace {

/// A batch of 1 stays 1: only dimensions other than the batch become longer, and first axes of
/// inputs that have no other.
bool is_length(const OpenDim& dim, const Network& network) {
  if (!dim.is_first) return true;
  return std::ranges::all_of(dim.places, [&](const auto& place) {
    const auto& inputs = network.graph().inputs;
    const auto info = std::ranges::find(inputs, place.first, &onnx::ValueInfo::name);
    return info->type.dims.size() == 1;
  });
}

OpenSizes longer_sizes(const Network& network, const NetworkInputs& usual, const OpenSizes& asked) {
  for (const std::int64_t length : {8, 4, 2, 16}) {
    OpenSizes sizes = usual.sizes;
    bool any = false;
    for (const OpenDim& dim : open_dims(network)) {
      const auto known = usual.sizes.by_name.find(dim.name);
      const auto size = known == usual.sizes.by_name.end() ? usual.sizes.batch : known->second;
      const bool is_made = std::ranges::all_of(dim.places, [&](const auto& place) {
        return std::ranges::find(usual.made, place.first) != usual.made.end();
      });
      if (size != 1 || !is_made || asked.by_name.contains(dim.name)) continue;
      if (!is_length(dim, network)) continue;
      sizes.by_name[dim.name] = length;
      any = true;
    }
    if (!any) break;
    if (SizeTrial(network, sizes).refusal().empty()) return sizes;
  }
  return usual.sizes;
}

bool same(const ValueMap& a, const ValueMap& b) {
  return std::ranges::all_of(a, [&](const auto& one) {
    const Value& other = b.at(one.first);
    if (!one.second.is_tensor() || !other.is_tensor()) return true;  // nothing is made of these
    const Tensor &x = one.second.tensor(), &y = other.tensor();
    if (x.desc() != y.desc()) return false;
    return x.dtype() == DType::string || std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
  });
}

std::string words_for(const Network& network, const NetworkInputs& inputs,
                      const InputDrawing& drawing, const OpenSizes& usual) {
  std::vector<std::string> words;
  bool any_whole = false, any_real = false;
  for (const auto& name : inputs.made) {
    const Value& value = inputs.values.at(name);
    if (!value.is_tensor()) continue;
    const bool is_real = is_floating_point(value.tensor().dtype());
    any_real = any_real || is_real;
    any_whole = any_whole || !is_real;
  }
  if (drawing.masks_of_ones && any_whole) words.emplace_back("masks of ones");
  for (const OpenDim& dim : open_dims(network)) {
    const auto place = inputs.sizes.by_name.find(dim.name);
    if (place == inputs.sizes.by_name.end() || usual.by_name.contains(dim.name)) continue;
    words.push_back(fmt::format("{} of {}", printable(dim.name), place->second));
  }
  if (drawing.most > 0 && any_real) {
    words.push_back(fmt::format("reals from {} to {}", drawing.least, drawing.most));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::optional<NetworkInputs> drawn_otherwise(const Network& network, const NetworkInputs& usual,
                                             const OpenSizes& asked, std::uint64_t seed,
                                             std::size_t drawing) {
  const InputDrawing& way = kInputDrawings[drawing];
  NetworkInputs inputs = usual;
  for (const auto& name : usual.made) inputs.values.erase(name);
  if (way.longer) inputs.sizes = longer_sizes(network, usual, asked);
  ValueMap made = made_inputs(network, inputs.sizes, inputs.values, seed, way);
  inputs.values.merge(made);
  if (same(usual.values, inputs.values)) return {};
  inputs.drawing = drawing;
  inputs.drawn = words_for(network, inputs, way, usual.sizes);
  return inputs;
}

NetworkInputs inputs_that_tell(const Network& network, const NetworkInputs& usual,
                               const OpenSizes& asked, std::uint64_t seed,
                               const SayNothing& say_nothing) {
  if (usual.made.empty()) return usual;
  std::size_t fewest = say_nothing(usual.values);
  NetworkInputs best = usual;
  std::set<std::string> tried;
  for (std::size_t drawing = 1; fewest > 0 && drawing < std::size(kInputDrawings); ++drawing) {
    try {
      auto inputs = drawn_otherwise(network, usual, asked, seed, drawing);
      if (!inputs || !tried.insert(inputs->drawn).second) continue;
      const std::size_t count = say_nothing(inputs->values);
      if (count >= fewest) continue;
      fewest = count;
      best = std::move(*inputs);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {  // it cannot take those
    }
  }
  return best;
}

}  // namespace d5
