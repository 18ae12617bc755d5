// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/source/network_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <typeinfo>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/transform_doubt.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/nodes/declared_shape.hpp"
#include "level1_network/nodes/value_descs.hpp"
#include "level1_network/source/fitting_sizes.hpp"
#include "level1_network/source/input_drawing.hpp"
#include "level1_network/source/made_inputs.hpp"
#include "level1_network/source/open_dims.hpp"
#include "level1_network/source/value_files.hpp"

namespace d5 {
namespace {

bool asks(const OpenSizes& sizes) { return sizes.batch != 1 || !sizes.by_name.empty(); }

/// Throws: TypeError, ShapeError.
void expect_fits(const NamedValue& given) {
  const onnx::Type& type = given.input->type;
  const std::string who =
      fmt::format("input '{}' is {}, but the value{} is {}", printable(given.input->name),
                  onnx::to_string(type), given.origin, to_string(given.value.desc()));
  const bool is_of_kind = type.kind == ValueKind::none || type.kind == given.value.kind();
  if (!is_of_kind) {
    throw TypeError(who + "; give an array, or a value of its kind in a file of ONNX's (.pb)");
  }
  if (!given.value.is_tensor()) return;
  const TensorDesc& desc = given.value.tensor().desc();
  if (type.dtype != DType::undefined && desc.dtype != type.dtype) {
    throw TypeError(fmt::format("{}; convert it, in NumPy array.astype(\"{}\")", who,
                                type.dtype == DType::boolean ? "bool" : name_of(type.dtype)));
  }
  if (!type.has_shape) return;
  if (desc.shape.rank() != type.dims.size()) {
    throw ShapeError(fmt::format("{}, of rank {} where {} is expected; see array.reshape in NumPy",
                                 who, desc.shape.rank(), type.dims.size()));
  }
  for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
    const auto* size = std::get_if<std::int64_t>(&type.dims[axis]);
    if (!size || *size == desc.shape[axis]) continue;
    throw ShapeError(fmt::format("{}: size {} at axis {} where {} is expected", who,
                                 desc.shape[axis], axis, *size));
  }
}

/// Sizes of given values. Throws: ValueError if another size was asked for; ShapeError if two
/// values differ.
class BoundSizes {
 public:
  BoundSizes(const Network& network, const OpenSizes& asked, const ValueMap& given)
      : asked_(asked), sizes_(asked) {
    for (const OpenDim& dim : open_dims(network)) {
      for (const auto& [input, axis] : dim.places) {
        const auto place = given.find(input);
        if (place == given.end() || !place->second.is_tensor()) continue;
        bind(dim, input, place->second.tensor().shape()[axis]);
      }
    }
  }
  [[nodiscard]] const OpenSizes& sizes() const { return sizes_; }

 private:
  void bind(const OpenDim& dim, const std::string& input, std::int64_t size) {
    const auto wanted = asked_.by_name.find(dim.name);
    if (wanted != asked_.by_name.end() && wanted->second != size) {
      throw ValueError(
          fmt::format("{}: it is {} in input '{}' that is given; leave out one",
                      option_word("dim", fmt::format("{}={}", printable(dim.name), wanted->second)),
                      size, printable(input)));
    }
    const auto [place, fresh] = origins_.emplace(dim.name, std::pair(size, input));
    if (!fresh && place->second.first != size) {
      throw ShapeError(
          fmt::format("input '{}': {} is {}, but {} in input '{}'; both are given and must agree",
                      printable(input), printable(dim.name), size, place->second.first,
                      printable(place->second.second)));
    }
    sizes_.by_name[dim.name] = size;
    if (!dim.is_first || size == asked_.batch) return;
    if (asked_.batch != 1) {
      throw ValueError(fmt::format("{}: {} is {} in input '{}' that is given; leave out one",
                                   option_word("batch", asked_.batch), printable(dim.name), size,
                                   printable(input)));
    }
    if (sizes_.batch == 1) sizes_.batch = size;
  }

  const OpenSizes& asked_;
  OpenSizes sizes_;
  std::map<std::string, std::pair<std::int64_t, std::string>> origins_;
};

/// Outputs whose shape in the file is wrong, inferred without running.
std::vector<std::string> declared_otherwise(const Network& network, const NetworkInputs& inputs) {
  ValueDescs known;
  KnownValues few;
  for (const auto& [name, value] : inputs.values) {
    known[name] = value.desc();
    if (value.is_tensor() && value.tensor().elements() == 1) few[name] = value;
  }
  NamedSizes named;
  for (const OpenDim& dim : open_dims(network)) {
    const auto& [input, axis] = dim.places.front();
    const auto place = inputs.values.find(input);
    if (place != inputs.values.end()) named[dim.name] = place->second.tensor().shape()[axis];
  }
  const ValueDescs descs = infer_graph(network.graph(), known, few).descs;
  std::vector<std::string> others;
  for (const auto& [name, type] : network.graph().outputs) {
    const auto desc = descs.find(name);
    if (desc == descs.end() || !desc->second.is_tensor()) continue;
    if (!contradicts(type, desc->second.tensor, named)) continue;
    others.push_back(fmt::format("{} as {}, it is {}", printable(name), onnx::to_string(type),
                                 to_string(desc->second)));
  }
  return others;
}

ValueMap given_values(const std::string& model, const Network& network, const OpenSizes& sizes,
                      const GivenInputs& given) {
  ValueMap values;
  if (brings_inputs(model) && !asks(sizes)) {
    values =
        detail::data_set_inputs(network, onnx::open_test_folder(model).data_sets.front().inputs);
  }
  for (auto& one : read_given(network, given)) {
    expect_fits(one);
    values[one.input->name] = std::move(one.value);
  }
  return values;
}

OpenSizes sizes_with(const Network& network, const OpenSizes& wanted, const ValueMap& given) {
  const OpenSizes asked = with_named_batch(network, wanted);
  if (given.empty()) {
    expect_taken(network, asked);
    return fitting_sizes(network, asked);
  }
  const OpenSizes bound = BoundSizes(network, asked, given).sizes();
  const auto names = network.input_names();
  const bool all = std::ranges::all_of(names, [&](const auto& n) { return given.contains(n); });
  if (all) return bound;  // they are what they are
  expect_taken(network, {.batch = 1, .by_name = asked.by_name});
  return fitting_sizes(network, bound);
}

}  // namespace

bool brings_inputs(const std::string& model) {
  return is_test_folder(model) && !onnx::open_test_folder(model).data_sets.empty();
}

NetworkInputs network_inputs(const std::string& model, const Network& network,
                             const OpenSizes& sizes, const GivenInputs& given, std::uint64_t seed) {
  NetworkInputs inputs{.values = given_values(model, network, sizes, given)};
  if (inputs.values.size() == network.input_names().size() && asks(sizes)) {
    refuse_sizes(sizes, model);
  }
  inputs.sizes = sizes_with(network, sizes, inputs.values);
  ValueMap made = made_inputs(network, inputs.sizes, inputs.values, seed);
  for (const auto& name : network.input_names()) {
    if (made.contains(name)) inputs.made.push_back(name);
  }
  inputs.values.merge(made);
  return inputs;
}

ValueMap drawn_again(const Network& network, const NetworkInputs& inputs, std::uint64_t seed,
                     std::size_t drawing) {
  ValueMap values = inputs.values;
  for (const auto& name : inputs.made) values.erase(name);
  const std::size_t way = std::min(drawing, std::size(kInputDrawings) - 1);
  ValueMap made = made_inputs(network, inputs.sizes, values, seed, kInputDrawings[way]);
  values.merge(made);
  return values;
}

OpenSizes network_sizes(const std::string& model, const Network& network, const OpenSizes& sizes,
                        const GivenInputs& given) {
  return sizes_with(network, sizes, given_values(model, network, sizes, given));
}

std::string advice_on(const NetworkInputs& inputs) {
  if (inputs.made.empty()) return "";
  constexpr std::size_t kFew = 3;
  std::vector<std::string> names, ways;
  for (const auto& name : inputs.made) {
    if (names.size() == kFew) break;
    names.push_back(fmt::format("'{}'", printable(name)));
    ways.push_back(option_word("input", printable(name) + "=FILE.npy"));
  }
  const bool several = inputs.made.size() > 1;
  return fmt::format(
      "the values of input{} {}{} were made by d5: give some that the network accepts, {}",
      several ? "s" : "", fmt::join(names, ", "), inputs.made.size() > kFew ? ", ..." : "",
      fmt::join(ways, " "));
}

void with_advice(const NetworkInputs& inputs, const std::function<void()>& run) {
  const auto told = [&](const Error& error) {
    const std::string advice = advice_on(inputs);
    return error.what() + (advice.empty() ? "" : "; " + advice);
  };
  try {
    run();
  } catch (const ShapeError& error) {
    throw ShapeError(told(error));
  } catch (const ValueError& error) {
    throw ValueError(told(error));
  } catch (const Error& error) {
    if (typeid(error) != typeid(Error)) throw;
    throw Error(told(error));  // a library's refusal while it ran
  }
}

void note_inputs(Measurement& record, const OpenSizes& asked, const Network& network,
                 const NetworkInputs& inputs) {
  std::vector<std::string> found;
  for (const auto& [name, size] : inputs.sizes.by_name) {
    if (inputs.made.empty() || asked.by_name.contains(name) || size == asked.batch) continue;
    found.push_back(fmt::format("{}={}", printable(name), size));
  }
  if (!found.empty())
    record.conditions["sizes"] = identity(fmt::format("{}", fmt::join(found, ", ")));
  if (!inputs.drawn.empty()) record.conditions["drawn"] = finding(inputs.drawn);
  const auto others = declared_otherwise(network, inputs);
  if (!others.empty())
    record.conditions["declared"] = finding(fmt::format("{}", fmt::join(others, ", ")));
  if (const auto doubt = doubt_of(network); !doubt.empty()) mistrust(record, doubt);
}

namespace detail {

ValueMap data_set_inputs(const Network& network, const std::vector<std::string>& files) {
  ValueMap inputs;
  std::size_t next = 0;
  for (const auto& input : network.graph().inputs) {
    if (network.graph().initializers.contains(input.name)) continue;
    if (next == files.size()) break;  // the executor names what is missing
    inputs[input.name] = onnx::load_value(files[next++], input.type);
  }
  return inputs;
}

}  // namespace detail
}  // namespace d5
