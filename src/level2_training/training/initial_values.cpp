// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/initial_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "d5/core/entries/option.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/network_mode.hpp"
#include "level2_training/data/storage/mapped_file.hpp"
#include "level2_training/data/storage/safetensors.hpp"

namespace d5 {
namespace {

using Stored = std::map<std::string, Tensor, std::less<>>;

/// Learnt tensors of a network: parameters, and constants that training overwrites.
std::set<std::string> learnt_names(const Network& network) {
  std::set<std::string> names;
  for (const auto& [name, value] : network.graph().initializers) {
    if (network.is_parameter(name)) names.insert(name);
  }
  for (const auto& [constant, output] : graph_in_mode(network, NetworkMode::training).updates) {
    names.insert(constant);
  }
  return names;
}

/// The tensors of a file, in place.
Stored from_safetensors(const detail::MappedFile& file) {
  const std::string who = fmt::format("'{}'", printable(file.path()));
  const auto parts = detail::split_safetensors(file.bytes(), who, "safetensors file");
  const auto content = detail::read_safetensors(parts, who);
  const auto format = content.metadata.find("format");
  const bool is_checkpoint = format != content.metadata.end() && format->second == "d5 checkpoint";
  Stored result;
  for (const auto& [name, desc, bytes] : content.tensors) {
    const std::size_t slash = name.find('/');
    const std::string part = is_checkpoint ? name.substr(0, slash) : "parameter";
    if (part != "parameter" && part != "constant") continue;
    // Only read: `feed` copies.
    result[is_checkpoint ? name.substr(slash + 1) : name] =
        Tensor::borrow(desc, const_cast<char*>(bytes.data()));
  }
  return result;
}

Stored from_onnx(const std::string& path) {
  const Network network = Network::load(path);
  const auto names = learnt_names(network);
  Stored result;
  for (const auto& name : names) result[name] = network.fetch(name);
  return result;
}

std::string list(const char* what, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  if (names.empty()) return "";
  const std::vector<std::string> first(
      names.begin(), names.begin() + std::ptrdiff_t(std::min(kMost, names.size())));
  return printable(
      fmt::format("; {}: {}{}", what, fmt::join(first, ", "),
                  names.size() > kMost ? fmt::format(" and {} more", names.size() - kMost) : ""));
}

}  // namespace

std::string to_string(const TakenValues& values) {
  return fmt::format("{} tensors taken{}{}{}", values.taken.size(),
                     list("left as they were", values.left), list("unused", values.unused),
                     list("left, for they differ", values.differing));
}

TakenValues take_values(Network& network, const InitialValues& from) {
  std::optional<detail::MappedFile> mapped;
  const bool is_onnx = from.path.ends_with(".onnx");
  if (!is_onnx) mapped.emplace(from.path);
  const Stored stored = is_onnx ? from_onnx(from.path) : from_safetensors(*mapped);
  const auto wanted = learnt_names(network);
  TakenValues result;
  bool other_type = false;
  for (const auto& name : wanted) {
    const auto place = stored.find(name);
    if (place == stored.end()) {
      result.left.push_back(name);
      continue;
    }
    const TensorDesc& present = network.fetch(name).desc();
    const TensorDesc& given = place->second.desc();
    if (given.dtype == present.dtype && given.shape == present.shape) {
      result.taken.push_back(name);
      continue;
    }
    other_type = other_type || given.dtype != present.dtype;
    result.differing.push_back(
        fmt::format("{}: {} in the file, {} in the network", name, to_string(given),
                    to_string(TensorDesc{.dtype = present.dtype, .shape = present.shape})));
  }
  for (const auto& [name, value] : stored) {
    if (!wanted.contains(name)) result.unused.push_back(name);
  }
  const std::string who = fmt::format("initial values of network '{}' from '{}'",
                                      printable(network.name()), printable(from.path));
  if (!result.differing.empty() && from.differing == InitialValues::Differing::refuse) {
    const std::string message =
        fmt::format("{}{}; leave them as they are ({}, Differing::leave), or take another file",
                    who, list("they differ", result.differing), option_word("init_skip_differing"));
    if (other_type) throw TypeError(message);
    throw ShapeError(message);
  }
  if (result.taken.empty() && !wanted.empty()) {
    std::vector<std::string> known;
    for (const auto& [name, value] : stored) known.push_back(name);
    throw_unknown_name(who + ": no name matches; tensor", *wanted.begin(), known);
  }
  for (const auto& name : result.taken) {
    network.feed(name, stored.find(name)->second);
  }
  return result;
}

}  // namespace d5
