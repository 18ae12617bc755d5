// SPDX-License-Identifier: Apache-2.0
#include "onnx/tensor_proto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "d5/core/errors/error.hpp"
#include "onnx/external_data.hpp"
#include "onnx/packed.hpp"

namespace d5::onnx::detail {
namespace {

using ::onnx::TensorProto;

std::string who(const TensorProto& proto) {
  return fmt::format("tensor '{}'", printable(proto.name()));
}

/// Checks that a typed field has as many entries as there are elements.
template <class Field>
void check_count(const Field& field, std::int64_t expected, const TensorProto& proto,
                 const Tensor& tensor, const Source& source) {
  if (field.size() == expected) return;
  source.fail(fmt::format("{}: {} values for {}, expected {}", who(proto), field.size(),
                          to_string(tensor.desc()), expected));
}

/// Converts an entry of a wider field to `T`. An entry within `T`'s bits, but outside its range
/// (200 for int8, -1 for uint8), is reinterpreted, as in ONNX Runtime and NumPy, and sets `is_odd`.
/// Throws: FormatError for an entry with more bits.
template <class T, class Entry>
T narrowed(Entry entry, int index, const TensorProto& proto, const Source& source, bool& is_odd) {
  using Signed = std::make_signed_t<T>;
  using Unsigned = std::make_unsigned_t<T>;
  if (!std::in_range<Signed>(entry) && !std::in_range<Unsigned>(entry)) {
    source.fail(fmt::format("{}: entry {} of its data is {}, more than the {} bits of {}",
                            who(proto), index, entry, 8 * sizeof(T),
                            name_of(DType(proto.data_type()))));
  }
  is_odd = is_odd || !std::in_range<T>(entry);
  return static_cast<T>(entry);
}

void tell_odd(bool is_odd, const TensorProto& proto, const Source& source) {
  if (!is_odd) return;
  source.note(fmt::format("{} has data outside the range of {}, which are read as its bits",
                          who(proto), name_of(DType(proto.data_type()))));
}

/// Copies entries of a wider field.
template <class T, class Field>
void narrow(const Field& field, Tensor& tensor, const TensorProto& proto, const Source& source) {
  check_count(field, tensor.elements(), proto, tensor, source);
  auto* to = static_cast<T*>(tensor.raw());
  bool is_odd = false;
  for (int i = 0; i < field.size(); ++i) to[i] = narrowed<T>(field[i], i, proto, source, is_odd);
  tell_odd(is_odd, proto, source);
}

/// Copies interleaved numbers, `per_element` for each element.
template <class Field>
void copy(const Field& field, int per_element, Tensor& tensor, const TensorProto& proto,
          const Source& source) {
  using T = std::remove_cvref_t<decltype(field[0])>;
  check_count(field, tensor.elements() * per_element, proto, tensor, source);
  std::copy(field.begin(), field.end(), static_cast<T*>(tensor.raw()));
}

/// Reads elements of less than two bytes: each entry has the bits of an element, or of a packed
/// byte.
void read_bytes(Tensor& tensor, const TensorProto& proto, const Source& source) {
  const auto& field = proto.int32_data();
  check_count(field, std::int64_t(file_bytes(tensor.dtype(), tensor.elements())), proto, tensor,
              source);
  std::vector<std::uint8_t> bytes(std::size_t(field.size()));
  bool is_odd = false;
  for (int i = 0; i < field.size(); ++i) {
    bytes[std::size_t(i)] = narrowed<std::uint8_t>(field[i], i, proto, source, is_odd);
  }
  tell_odd(is_odd, proto, source);
  unpack(bytes, tensor);
}

/// Reads 6-bit elements, which are not packed here: one per entry.
void read_codes(Tensor& tensor, const TensorProto& proto, const Source& source) {
  narrow<std::uint8_t>(proto.int32_data(), tensor, proto, source);
  for (int i = 0; i < proto.int32_data_size(); ++i) {
    if (const int code = proto.int32_data(i); code >= 1 << bits_of(tensor.dtype())) {
      source.fail(fmt::format("{}: entry {} of its data is {}, expected the {} bits of {}",
                              who(proto), i, code, bits_of(tensor.dtype()),
                              name_of(tensor.dtype())));
    }
  }
}

void read_fields(Tensor& tensor, const TensorProto& proto, const Source& source) {
  switch (tensor.dtype()) {
    case DType::float32:
      return copy(proto.float_data(), 1, tensor, proto, source);
    case DType::complex64:
      return copy(proto.float_data(), 2, tensor, proto, source);
    case DType::float64:
      return copy(proto.double_data(), 1, tensor, proto, source);
    case DType::complex128:
      return copy(proto.double_data(), 2, tensor, proto, source);
    case DType::int64:
      return copy(proto.int64_data(), 1, tensor, proto, source);
    case DType::uint64:
      return copy(proto.uint64_data(), 1, tensor, proto, source);
    case DType::uint32:
      return narrow<std::uint32_t>(proto.uint64_data(), tensor, proto, source);
    case DType::int32:
      return copy(proto.int32_data(), 1, tensor, proto, source);
    case DType::int16:
      return narrow<std::int16_t>(proto.int32_data(), tensor, proto, source);
    case DType::int8:
      return narrow<std::int8_t>(proto.int32_data(), tensor, proto, source);
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16:
      return narrow<std::uint16_t>(proto.int32_data(), tensor, proto, source);
    case DType::string: {
      check_count(proto.string_data(), tensor.elements(), proto, tensor, source);
      std::copy(proto.string_data().begin(), proto.string_data().end(), tensor.data<std::string>());
      return;
    }
    case DType::float6e2m3:
    case DType::float6e3m2:
      return read_codes(tensor, proto, source);
    default:
      return read_bytes(tensor, proto, source);
  }
}

/// Checks that the typed fields have enough entries, before allocating elements.
void check_data_exists(std::size_t bytes_in_file, const TensorProto& proto, const TensorDesc& desc,
                       const Source& source) {
  if (proto.has_raw_data() && desc.dtype != DType::string) {
    if (proto.raw_data().size() != bytes_in_file) {
      source.fail(fmt::format("{}: {} bytes of data for {}, expected {}", who(proto),
                              proto.raw_data().size(), to_string(desc), bytes_in_file));
    }
    return;
  }
  const std::int64_t entries = std::int64_t(proto.float_data_size()) + proto.int32_data_size() +
                               proto.string_data_size() + proto.int64_data_size() +
                               proto.double_data_size() + proto.uint64_data_size();
  const std::int64_t most_an_entry = 8 / std::min(8, bits_of(desc.dtype));
  if (desc.elements() > entries * most_an_entry) {
    source.fail(fmt::format("{}: {} values for {}", who(proto), entries, to_string(desc)));
  }
}

}  // namespace

DType read_dtype(std::int32_t data_type, const Source& source, std::string_view who) {
  if (data_type <= 0 || data_type >= kDTypeCount) {
    source.fail(fmt::format("{}: element type {} is unknown, expected one of 1 to {}", who,
                            data_type, kDTypeCount - 1));
  }
  return DType(data_type);
}

Tensor read_tensor(const TensorProto& proto, Source& source) {
  if (proto.has_segment())
    source.refuse(who(proto) + ": segments are not supported; store it whole");
  const DType dtype = read_dtype(proto.data_type(), source, who(proto));
  const TensorDesc desc{dtype,
                        Shape(std::vector<std::int64_t>(proto.dims().begin(), proto.dims().end()))};
  std::size_t bytes = 0, bytes_in_file = 0;
  try {
    bytes = desc.bytes();
    bytes_in_file = file_bytes(dtype, desc.elements());
  } catch (const ShapeError& error) {
    source.fail(fmt::format("{}: {}", who(proto), error.what()));
  }
  if (is_external(proto)) {
    if (dtype == DType::string) source.fail(who(proto) + ": strings cannot be stored externally");
    const ExternalData data(proto, source, bytes_in_file);
    source.take(bytes, proto.name());
    Tensor result = Tensor::empty(desc);
    if (!is_packed(dtype) && dtype != DType::boolean) {
      data.read({static_cast<std::uint8_t*>(result.raw()), bytes});
    } else {
      std::vector<std::uint8_t> packed(bytes_in_file);
      data.read(packed);
      unpack(packed, result);
    }
    return result;
  }
  check_data_exists(bytes_in_file, proto, desc, source);
  source.take(bytes, proto.name());
  Tensor result = Tensor::empty(desc);
  if (proto.has_raw_data() && dtype != DType::string) {
    const auto* raw = reinterpret_cast<const std::uint8_t*>(proto.raw_data().data());
    unpack({raw, proto.raw_data().size()}, result);
  } else {
    read_fields(result, proto, source);
  }
  return result;
}

void write_desc(const Tensor& tensor, std::string_view name, TensorProto& proto) {
  if (!name.empty()) proto.set_name(std::string(name));
  proto.set_data_type(std::int32_t(tensor.dtype()));
  for (const std::int64_t dim : tensor.shape()) proto.add_dims(dim);
}

void write_tensor(const Tensor& tensor, std::string_view name, TensorProto& proto) {
  write_desc(tensor, name, proto);
  if (tensor.dtype() == DType::string) {
    for (const std::string& text : tensor.span<std::string>()) proto.add_string_data(text);
  } else {
    proto.set_raw_data(pack(tensor));
  }
}

}  // namespace d5::onnx::detail
