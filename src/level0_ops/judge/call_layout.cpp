// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/call_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <variant>

#include "d5/abi.h"
#include "d5/core/errors/error.hpp"
#include "level0_ops/judge/judge_fault.hpp"

namespace d5::detail {
namespace {

using judged::kPage;

constexpr std::size_t kMostGapPages = 16;
constexpr std::size_t kAlignment = 64;

std::size_t bytes_of(const ValueDesc& desc) {
  return std::size_t(desc.tensor.shape.elements()) * size_of(desc.tensor.dtype);
}
std::size_t pages_of(const ValueDesc& desc) {
  return std::max<std::size_t>(1, (bytes_of(desc) + kPage - 1) / kPage);
}

/// Attributes in the format of `judged::Orders`.
class AttributeWriter {
 public:
  explicit AttributeWriter(const onnx::Node& node) : node_(node) {
    for (const auto& [name, attribute] : node.attributes) {
      std::visit([&, &key = name](const auto& value) { add(key, value); }, attribute);
    }
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  void put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& value) {
    put(std::uint32_t(value.size()));
    bytes_ += value;
  }
  void begin(const std::string& name, std::uint32_t kind, std::size_t count) {
    put(kind);
    put(std::uint32_t(count));
    text(name);
    ++count_;
  }
  template <class T>
  void add(const std::string& name, const T& value) {
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, float>) {
      begin(name, std::is_same_v<T, float> ? D5_ATTRIBUTE_FLOAT : D5_ATTRIBUTE_INT, 1);
      put(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      begin(name, D5_ATTRIBUTE_STRING, 1);
      text(value);
    } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                         std::is_same_v<T, std::vector<float>>) {
      const bool reals = std::is_same_v<T, std::vector<float>>;
      begin(name, reals ? D5_ATTRIBUTE_FLOATS : D5_ATTRIBUTE_INTS, value.size());
      for (const auto& one : value) put(one);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      begin(name, D5_ATTRIBUTE_STRINGS, value.size());
      for (const auto& one : value) text(one);
    } else {
      throw Unsupported(
          fmt::format("{}: attribute '{}' holds a tensor or a graph, which a judged "
                      "source does not get",
                      onnx::describe(node_), printable(name)));
    }
  }

  const onnx::Node& node_;
  std::uint32_t count_ = 0;
  std::string bytes_;
};

}  // namespace

std::size_t shared_bytes(std::span<const ValueDesc> tensors) {
  std::size_t pages = 1;
  for (const auto& tensor : tensors) {
    if (tensor.is_tensor()) pages += kMostGapPages + pages_of(tensor);
  }
  return pages * kPage;
}

void write_node(judged::Orders& orders, const onnx::Node& node, int case_index) {
  const AttributeWriter attributes(node);
  if (node.op_type.size() >= judged::kMostText ||
      2 * (node.inputs.size() + node.outputs.size()) > judged::kMostTensors ||
      attributes.bytes().size() > judged::kMostAttributeBytes) {
    throw Unsupported(
        fmt::format("{}: it has more than {} tensors, or attributes of more than {} "
                    "bytes",
                    onnx::describe(node), judged::kMostTensors / 2, judged::kMostAttributeBytes));
  }
  orders.case_index = case_index;
  orders.opset = node.opset;
  std::strcpy(orders.name, node.op_type.c_str());
  orders.input_count = std::uint32_t(node.inputs.size());
  orders.output_count = std::uint32_t(node.outputs.size());
  orders.attribute_count = attributes.count();
  orders.attribute_bytes = std::uint32_t(attributes.bytes().size());
  std::memcpy(orders.attributes, attributes.bytes().data(), attributes.bytes().size());
}

CallLayout::CallLayout(JudgedProcess& process, std::span<const ValueDesc> read,
                       std::span<const ValueDesc> written, RandomStream& random)
    : process_(process),
      written_(written.begin(), written.end()),
      read_count_(read.size()),
      poison_(kPage) {
  for (std::byte& byte : poison_) byte = std::byte(random.bits());
  const auto place = [&](std::span<const ValueDesc> tensors) {
    std::size_t page = 0;
    for (const auto& desc : tensors) {
      judged::Placed& one = placed_.emplace_back();
      if (!desc.is_tensor()) continue;
      page += random.below(kMostGapPages);
      const std::size_t pages = pages_of(desc), slack = pages * kPage - bytes_of(desc);
      one.page_offset = page * kPage;
      one.page_bytes = pages * kPage;
      one.lead_bytes = random.below(2) == 0 ? 0 : slack / kAlignment * kAlignment;
      // Somewhere in the middle of the address space, far from the process's own memory.
      constexpr std::uint64_t kLowest = 1ULL << 36, kRange = 1ULL << 33;
      one.address = kLowest + random.below(kRange) * kPage;
      const auto& dims = desc.tensor.shape.dims();
      if (dims.size() > judged::kMostDims) {
        throw Unsupported(fmt::format("a judged source takes at most {} dimensions, and {} has {}",
                                      judged::kMostDims, to_string(desc), dims.size()));
      }
      std::ranges::copy(dims, one.dims);
      one.rank = std::int32_t(dims.size());
      one.dtype = std::int32_t(desc.tensor.dtype);
      page += pages;
    }
  };
  place(read);
  place(written_);
  judged::Orders& orders = process.orders();
  std::ranges::copy(placed_, orders.tensors);
  orders.tensor_count = std::uint32_t(placed_.size());
  orders.read_count = std::uint32_t(read_count_);
}

std::byte* CallLayout::elements(std::size_t i) const {
  SharedPages& memory = i < read_count_ ? process_.inputs() : process_.outputs();
  return memory.data() + placed_[i].page_offset + placed_[i].lead_bytes;
}

void CallLayout::put(std::span<const Value> read) {
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!read[i].is_tensor()) continue;
    const Tensor& tensor = read[i].tensor();
    if (tensor.bytes() > 0) std::memcpy(elements(i), tensor.raw(), tensor.bytes());
  }
}

void CallLayout::poison() {
  for (std::size_t i = read_count_; i < placed_.size(); ++i) {
    std::byte* pages = process_.outputs().data() + placed_[i].page_offset;
    for (std::size_t at = 0; at < placed_[i].page_bytes; at += kPage) {
      std::ranges::copy(poison_, pages + at);
    }
  }
}

std::vector<Value> CallLayout::take() {
  std::vector<Value> taken;
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const judged::Placed& placed = placed_[read_count_ + i];
    if (!written_[i].is_tensor()) {
      taken.emplace_back();
      continue;
    }
    Tensor tensor = Tensor::empty(written_[i].tensor.dtype, written_[i].tensor.shape);
    std::byte* pages = process_.outputs().data() + placed.page_offset;
    if (tensor.bytes() > 0) std::memcpy(tensor.raw(), pages + placed.lead_bytes, tensor.bytes());
    for (std::size_t at = 0; at < placed.page_bytes; ++at) {
      const bool beside = at < placed.lead_bytes || at >= placed.lead_bytes + tensor.bytes();
      if (!beside || pages[at] == poison_[at % kPage]) continue;
      throw JudgeFault("left its tensors",
                       fmt::format("it wrote {} {}",
                                   at < placed.lead_bytes ? "before" : "past the end of", name(i)));
    }
    std::fill_n(pages, placed.page_bytes, std::byte{0});
    taken.emplace_back(std::move(tensor));
  }
  return taken;
}

std::int64_t CallLayout::unwritten(std::size_t i, const Tensor& taken) const {
  const std::size_t size = size_of(taken.dtype()), lead = placed_[read_count_ + i].lead_bytes;
  const auto* bytes = static_cast<const std::byte*>(taken.raw());
  std::int64_t count = 0;
  for (std::size_t at = 0; at < taken.bytes(); at += size) {
    bool same = true;
    for (std::size_t b = at; b < at + size; ++b) same &= bytes[b] == poison_[(lead + b) % kPage];
    count += same ? 1 : 0;
  }
  return count;
}

void CallLayout::expect_unchanged(std::span<const Value> read) const {
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!read[i].is_tensor() || read[i].tensor().bytes() == 0) continue;
    const Tensor& tensor = read[i].tensor();
    if (std::memcmp(elements(i), tensor.raw(), tensor.bytes()) == 0) continue;
    throw JudgeFault("wrote to an input",
                     fmt::format("{} differs after the call", tensor_name(process_.orders(), i)));
  }
}

}  // namespace d5::detail
