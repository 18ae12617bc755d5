// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"

namespace d5 {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64, kMostBytes = std::size_t{8} << 30;

struct TypeWord {
  const char* word;
  DType dtype;
};
constexpr std::array<TypeWord, 14> kNpyTypes{{{"|b1", DType::boolean},
                                              {"|i1", DType::int8},
                                              {"|u1", DType::uint8},
                                              {"<i2", DType::int16},
                                              {"<u2", DType::uint16},
                                              {"<i4", DType::int32},
                                              {"<u4", DType::uint32},
                                              {"<i8", DType::int64},
                                              {"<u8", DType::uint64},
                                              {"<f2", DType::float16},
                                              {"<f4", DType::float32},
                                              {"<f8", DType::float64},
                                              {"<c8", DType::complex64},
                                              {"<c16", DType::complex128}}};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  [[nodiscard]] NpyHeader header() {
    const std::size_t whole = bytes_.size();
    if (!bytes_.starts_with(kMagic)) refuse("expected \\x93NUMPY at its begin");
    (void)take(kMagic.size());
    const int version = std::uint8_t(take(2)[0]);
    if (version < 1 || version > 3) refuse(fmt::format("version {}, expected 1 to 3", version));
    header_ = take(number_of(take(version == 1 ? 2 : 4)));
    const DType dtype = dtype_of_word(std::string(text_of("descr")));
    const std::string_view order = rest_of("fortran_order");
    const bool is_fortran = order.starts_with("True");
    if (!is_fortran && !order.starts_with("False"))
      refuse("fortran_order is neither True nor False");
    NpyHeader result{{dtype, shape()}, is_fortran, whole - bytes_.size()};
    check_size(result.desc);
    return result;
  }

  /// The header for values that are used in place.
  [[nodiscard]] NpyHeader header_of_mapped() {
    NpyHeader result = header();
    if (!is_big_endian_) return result;
    throw Unsupported(fmt::format(
        "'{}' is big-endian, and cannot be used in place; write it as little-endian, with "
        "array.astype(array.dtype.newbyteorder('<')), or put it into an .npz",
        printable(file_)));
  }

  [[nodiscard]] Tensor read() {
    const auto [desc, is_fortran, begin] = header();
    const auto& dims = desc.shape.dims();
    const Shape reversed(std::vector<std::int64_t>(dims.rbegin(), dims.rend()));
    Tensor tensor = Tensor::empty({desc.dtype, is_fortran ? reversed : desc.shape});
    if (!bytes_.empty()) std::memcpy(tensor.raw(), bytes_.data(), bytes_.size());
    if (is_big_endian_) swap_bytes(tensor);
    return is_fortran ? row_major(tensor, desc.shape) : tensor;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw FormatError(fmt::format("'{}' is not a .npy file: {}", printable(file_), what));
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) refuse("it ends before its header does");
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }

  static std::size_t number_of(std::string_view little_endian) {
    std::size_t number = 0;
    for (std::size_t i = little_endian.size(); i-- > 0;) {
      number = number << 8 | std::uint8_t(little_endian[i]);
    }
    return number;
  }

  /// The text after 'name': in the header, a Python dictionary.
  [[nodiscard]] std::string_view rest_of(std::string_view name) const {
    const std::size_t key = header_.find(fmt::format("'{}'", name));
    const std::size_t colon = key == header_.npos ? key : header_.find(':', key);
    const std::size_t begin =
        colon == header_.npos ? colon : header_.find_first_not_of(' ', colon + 1);
    if (begin == header_.npos) refuse(fmt::format("its header has no '{}'", name));
    return header_.substr(begin);
  }

  [[nodiscard]] std::string_view text_of(std::string_view name) const {
    const std::string_view rest = rest_of(name);
    const std::size_t end = rest.find('\'', 1);
    if (rest[0] != '\'' || end == rest.npos) {
      throw Unsupported(
          fmt::format("'{}' holds records of several fields, expected an array of one "
                      "element type",
                      printable(file_)));
    }
    return rest.substr(1, end - 1);
  }

  [[nodiscard]] DType dtype_of_word(std::string word) {
    is_big_endian_ = word.starts_with('>');
    if (is_big_endian_) word[0] = '<';
    for (const auto& [known, dtype] : kNpyTypes) {
      if (word == known) return dtype;
    }
    if (word.starts_with("|O")) {
      throw Unsupported(fmt::format(
          "'{}' holds Python objects, a pickle, which is never run; save an array of numbers, "
          "numpy.asarray(objects, dtype)",
          printable(file_)));
    }
    throw Unsupported(fmt::format(
        "'{}' has elements of type '{}', expected booleans, integers, floats of 16 to 64 "
        "bits or complex numbers; see numpy.ndarray.astype",
        printable(file_), printable(word)));
  }

  [[nodiscard]] Shape shape() const {
    std::string_view rest = rest_of("shape");
    const std::size_t end = rest.find(')');
    if (rest[0] != '(' || end == rest.npos) refuse("its shape is not a tuple");
    rest = rest.substr(1, end - 1);
    Shape shape;
    while (true) {
      rest.remove_prefix(std::min(rest.find_first_not_of(" ,"), rest.size()));
      if (rest.empty()) return shape;
      std::int64_t size = 0;
      const auto [next, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
      if (error != std::errc() || size < 0) refuse("its shape contains something other than sizes");
      shape.push_back(size);
      rest.remove_prefix(std::size_t(next - rest.data()));
    }
  }

  void check_size(const TensorDesc& desc) const {
    const Shape& shape = desc.shape;
    const std::size_t size = size_of(desc.dtype);
    // Compares sizes without a product, which may overflow.
    std::size_t left = bytes_.size() / size;
    bool is_whole = bytes_.size() % size == 0;
    const bool is_empty = std::ranges::find(shape, 0) != shape.end();
    for (const std::int64_t dim : shape) {
      if (is_empty) break;
      is_whole = is_whole && left % std::size_t(dim) == 0;
      left /= std::size_t(dim);
    }
    if (is_empty ? !bytes_.empty() : !is_whole || left != 1) {
      refuse(fmt::format("{} bytes of values do not make {} of shape {}", bytes_.size(),
                         name_of(desc.dtype), to_string(shape)));
    }
  }

  /// Swaps the bytes of each number; a complex one counts as two.
  static void swap_bytes(Tensor& tensor) {
    const bool is_complex =
        tensor.dtype() == DType::complex64 || tensor.dtype() == DType::complex128;
    const std::size_t size = size_of(tensor.dtype()) / (is_complex ? 2 : 1);
    auto* const bytes = static_cast<std::byte*>(tensor.raw());
    for (std::size_t i = 0; i + size <= tensor.bytes(); i += size) {
      std::reverse(bytes + i, bytes + i + size);
    }
  }

  /// `stored` has the reversed dimensions of `shape`.
  static Tensor row_major(const Tensor& stored, const Shape& shape) {
    Tensor result = Tensor::empty(stored.dtype(), shape);
    const std::size_t size = size_of(stored.dtype());
    const auto* from = static_cast<const std::byte*>(stored.raw());
    auto* to = static_cast<std::byte*>(result.raw());
    std::vector<std::int64_t> place(shape.rank());
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      std::int64_t offset = 0;
      for (std::size_t d = shape.rank(); d-- > 0;) offset = offset * shape[d] + place[d];
      std::memcpy(to + std::size_t(i) * size, from + std::size_t(offset) * size, size);
      for (std::size_t d = shape.rank(); d-- > 0 && ++place[d] == shape[d];) place[d] = 0;
    }
    return result;
  }

  std::string_view bytes_, header_;
  bool is_big_endian_ = false;
  const std::string& file_;
};

}  // namespace

Tensor read_npy(const std::string& path) { return parse_npy(read_file(path, kMostBytes), path); }

NpyHeader parse_npy_header(std::string_view bytes, const std::string& file) {
  return Reader(bytes, file).header_of_mapped();
}

Tensor parse_npy(std::string_view bytes, const std::string& file) {
  return Reader(bytes, file).read();
}

bool fits_npy(DType dtype) {
  return std::ranges::find(kNpyTypes, dtype, &TypeWord::dtype) != kNpyTypes.end();
}

std::string to_npy(const Tensor& given) {
  const Tensor tensor = given.on_host();
  const auto type = std::ranges::find(kNpyTypes, tensor.dtype(), &TypeWord::dtype);
  if (type == kNpyTypes.end()) {
    throw Unsupported(fmt::format("NumPy has no element type {}; write an ONNX tensor file (.pb)",
                                  name_of(tensor.dtype())));
  }
  const Shape& shape = tensor.shape();
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type->word,
                  fmt::join(shape, ", "), shape.rank() == 1 ? "," : "");
  const std::size_t before = kMagic.size() + 4;
  header.append(kAlignment - 1 - (before + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += {'\1', '\0', char(header.size() & 0xff), char(header.size() >> 8)};
  bytes += header;
  bytes.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
  return bytes;
}

}  // namespace d5
