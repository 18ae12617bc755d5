// SPDX-License-Identifier: Apache-2.0
#include "ort_value.hpp"

#include <fmt/format.h>

#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::onnxruntime {
namespace {

constexpr int kDeviceAllocator = 0, kDefaultMemory = 0;

Allocator* allocator() {
  Allocator* result = nullptr;
  kGetAllocator(&result);
  return result;
}

const MemoryInfo* host_memory() {
  static const MemoryInfo* info = [] {
    MemoryInfo* made = nullptr;
    kCreateCpuMemoryInfo(kDeviceAllocator, kDefaultMemory, &made);
    return made;
  }();
  return info;
}

Handle<OrtValue> text_tensor(const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  auto result =
      made_by<OrtValue>(kCreateTensor, allocator(), dims.data(), dims.size(), int(tensor.dtype()));
  std::vector<const char*> texts;
  for (const auto& text : tensor.span<std::string>()) texts.push_back(text.c_str());
  kFillStrings(result.get(), texts.data(), texts.size());
  return result;
}

Handle<OrtValue> shared_tensor(const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  // ONNX Runtime requires an address even for an empty tensor, and writes only to outputs.
  static std::int64_t nothing;
  void* data = tensor.elements() > 0 ? const_cast<void*>(tensor.raw()) : &nothing;
  return made_by<OrtValue>(kCreateTensorWithData, host_memory(), data, tensor.bytes(), dims.data(),
                           dims.size(), int(tensor.dtype()));
}

Handle<OrtValue> sequence_of(const Sequence& sequence) {
  if (sequence.values.empty()) {
    throw Unsupported("ONNX Runtime takes no empty sequence as an input");
  }
  std::vector<Handle<OrtValue>> owned;
  std::vector<const OrtValue*> elements;
  for (const Value& value : sequence.values) {
    owned.push_back(to_ort(value));
    elements.push_back(owned.back().get());
  }
  return made_by<OrtValue>(kCreateSequence, elements.data(), elements.size(), ValueType::sequence);
}

TensorDesc desc_of(const OrtValue* value) {
  const auto info = made_by<TypeAndShape>(kGetTypeAndShape, value);
  const TypeAndShape* known = info.get();
  int type = 0;
  std::size_t rank = 0;
  kGetElementType(known, &type);
  kGetRank(known, &rank);
  std::vector<std::int64_t> dims(rank);
  kGetDims(known, dims.data(), rank);
  return {DType(type), Shape(std::move(dims))};
}

Tensor texts_of(const OrtValue* value, const TensorDesc& desc) {
  Tensor result = Tensor::empty(desc);
  const auto texts = result.span<std::string>();
  std::size_t length = 0;
  kGetStringsLength(value, &length);
  std::string all(length, '\0');
  std::vector<std::size_t> begins(texts.size());
  kGetStrings(value, all.data(), length, begins.data(), begins.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t end = i + 1 < texts.size() ? begins[i + 1] : length;
    texts[i] = all.substr(begins[i], end - begins[i]);
  }
  return result;
}

Value tensor_of(Handle<OrtValue> value) {
  const TensorDesc desc = desc_of(value.get());
  if (desc.dtype == DType::string) return texts_of(value.get(), desc);
  void* data = nullptr;
  kGetTensorData(value.get(), &data);
  return Tensor::borrow(desc, data, std::shared_ptr<OrtValue>(value.release(), Release{}));
}

Value elements_of(const OrtValue* value) {
  std::size_t count = 0;
  kGetElementCount(value, &count);
  Sequence sequence;
  for (std::size_t i = 0; i < count; ++i) {
    sequence.values.push_back(from_ort(made_by<OrtValue>(kGetElement, value, int(i), allocator())));
  }
  if (count > 0) sequence.element = sequence.values.front().desc();
  return sequence;
}

/// The map in a value, whose two elements are lists of keys and of values.
Value map_of(const OrtValue* value) {
  const auto part = [&](int i) {
    return from_ort(made_by<OrtValue>(kGetElement, value, i, allocator()));
  };
  const Value keys = part(0);
  const Value values = part(1);
  Sequence scalars{TensorDesc{values.tensor().dtype(), {}}, {}};
  for (std::int64_t i = 0; i < values.tensor().elements(); ++i) {
    scalars.values.emplace_back(values.tensor().slice(i, i + 1).reshaped({}));
  }
  Map map{.keys = {}, .values = std::make_shared<const Value>(std::move(scalars))};
  if (keys.tensor().dtype() == DType::string) {
    const auto texts = keys.tensor().span<std::string>();
    map.keys = std::vector<std::string>(texts.begin(), texts.end());
  } else {
    const auto numbers = keys.tensor().span<std::int64_t>();
    map.keys = std::vector<std::int64_t>(numbers.begin(), numbers.end());
  }
  return map;
}

}  // namespace

std::string refusal(const ValueDesc& desc) {
  if (desc.kind == ValueKind::sequence) return refusal(*desc.element);
  if (!desc.is_tensor()) return fmt::format("{} from outside", name_of(desc.kind));
  const DType dtype = desc.tensor.dtype;
  // d5 stores these in a byte each, ONNX Runtime packs them.
  if (bits_of(dtype) < 8) return fmt::format("{} at inputs and outputs", name_of(dtype));
  return {};
}

Handle<OrtValue> to_ort(const Value& value) {
  if (value.kind() == ValueKind::sequence) return sequence_of(value.sequence());
  if (const auto why = refusal(value.desc()); !why.empty()) {
    throw Unsupported("ONNX Runtime does not take " + why);
  }
  return is_shared(value) ? shared_tensor(value.tensor()) : text_tensor(value.tensor());
}

Value from_ort(Handle<OrtValue> value) {
  ValueType type = ValueType::unknown;
  kGetValueType(static_cast<const OrtValue*>(value.get()), &type);
  if (type == ValueType::tensor) return tensor_of(std::move(value));
  if (type == ValueType::sequence) return elements_of(value.get());
  if (type == ValueType::map) return map_of(value.get());
  throw Unsupported("ONNX Runtime returned a value that is not a tensor, sequence or map");
}

}  // namespace d5::onnxruntime
