// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/gguf_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "evaluation/generation/gguf_blocks.hpp"

namespace d5::detail {
namespace {

constexpr std::uint64_t kMostRank = 4;
constexpr std::uint64_t kDefaultAlignment = 32;

/// Types of metadata, by number.
enum Kind : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kText,
  kArray,
  kUint64,
  kInt64,
  kFloat64
};

/// Bytes of a number; 0 for other types.
std::size_t bytes_of(std::uint32_t kind) {
  constexpr std::size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kind <= kFloat64 ? kBytes[kind] : 0;
}

bool is_real(std::uint32_t kind) { return kind == kFloat32 || kind == kFloat64; }

template <class T>
T number_at(std::string_view bytes) {
  T number{};
  std::memcpy(&number, bytes.data(), sizeof(T));
  return number;
}

}  // namespace

/// The bytes that are not yet read.
class GgufFile::Reader {
 public:
  Reader(const GgufFile& file, std::string_view bytes) : file_(file), all_(bytes), left_(bytes) {}

  [[nodiscard]] std::size_t place() const { return all_.size() - left_.size(); }
  /// Throws: FormatError if fewer are left.
  std::string_view take(std::uint64_t count, std::string_view what) {
    if (count > left_.size()) {
      fail(what, fmt::format("takes {} bytes, but {} are left", count, left_.size()));
    }
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  template <class T>
  T number(std::string_view what) {
    return number_at<T>(take(sizeof(T), what));
  }
  /// A number of things that take at least `least` bytes each.
  std::uint64_t count(std::string_view what, std::uint64_t least) {
    const auto count = number<std::uint64_t>(what);
    if (count > left_.size() / least) {
      fail(what, fmt::format("is {}, but {} bytes are left, {} or more each", count, left_.size(),
                             least));
    }
    return count;
  }
  std::string_view text(std::string_view what) { return take(count(what, 1), what); }

  std::int64_t whole(std::uint32_t kind, std::string_view what) {
    switch (kind) {
      case kUint8:
        return number<std::uint8_t>(what);
      case kInt8:
        return number<std::int8_t>(what);
      case kUint16:
        return number<std::uint16_t>(what);
      case kInt16:
        return number<std::int16_t>(what);
      case kUint32:
        return number<std::uint32_t>(what);
      case kInt32:
        return number<std::int32_t>(what);
      case kInt64:
        return number<std::int64_t>(what);
      case kUint64: {
        const auto value = number<std::uint64_t>(what);
        if (value > std::uint64_t(std::numeric_limits<std::int64_t>::max())) {
          fail(what, fmt::format("is {}, expected below 2^63", value));
        }
        return std::int64_t(value);
      }
      case kBool:
        return number<std::uint8_t>(what) != 0;
      default:
        fail(what, fmt::format("has type {}, expected 0 to 12", kind));
    }
  }
  double real(std::uint32_t kind, std::string_view what) {
    return kind == kFloat32 ? double(number<float>(what)) : number<double>(what);
  }

  MetaValue value(std::uint32_t kind, std::string_view what) {
    if (kind == kText) return text(what);
    if (kind == kArray) return array(what);
    if (is_real(kind)) return real(kind, what);
    const std::int64_t whole_number = whole(kind, what);
    if (kind == kBool) return whole_number != 0;
    return whole_number;
  }

  [[noreturn]] void fail(std::string_view what, std::string_view problem) const {
    file_.fail(what, fmt::format("{}, at byte {}", problem, place()));
  }

 private:
  MetaValue array(std::string_view what) {
    const auto kind = number<std::uint32_t>(what);
    if (kind != kText && bytes_of(kind) == 0) {
      fail(what, fmt::format("is a list of type {}, expected numbers or texts", kind));
    }
    const std::uint64_t length = count(what, kind == kText ? 8 : bytes_of(kind));
    if (kind == kText) {
      Texts texts;
      for (std::uint64_t i = 0; i < length; ++i) texts.push_back(text(what));
      return texts;
    }
    if (is_real(kind)) {
      Reals reals;
      for (std::uint64_t i = 0; i < length; ++i) reals.push_back(real(kind, what));
      return reals;
    }
    Naturals naturals;
    for (std::uint64_t i = 0; i < length; ++i) naturals.push_back(whole(kind, what));
    return naturals;
  }

  const GgufFile& file_;
  std::string_view all_, left_;
};

GgufFile::GgufFile(const std::string& path)
    : who_(fmt::format("'{}'", printable(path))), mapped_(std::make_unique<MappedFile>(path)) {
  parse(mapped_->bytes());
}

GgufFile::GgufFile(std::string_view bytes, std::string who) : who_(std::move(who)) { parse(bytes); }

void GgufFile::fail(std::string_view what, std::string_view problem) const {
  throw FormatError(fmt::format("{}: {} {}", who_, printable(std::string(what)), problem));
}

void GgufFile::parse(std::string_view bytes) {
  Reader reader(*this, bytes);
  if (reader.take(4, "the head") != "GGUF") fail("the head", "is not 'GGUF': it is another format");
  const auto version = reader.number<std::uint32_t>("the version");
  if (version != 2 && version != 3) {
    throw Unsupported(
        fmt::format("{}: version {} of GGUF, expected 2 or 3, little-endian", who_, version));
  }
  constexpr std::uint64_t kLeastTensor = 8 + 4 + 8 + 4 + 8, kLeastEntry = 8 + 4 + 1;
  const auto tensors = reader.count("the number of tensors", kLeastTensor);
  const auto entries = reader.count("the number of metadata", kLeastEntry);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::string_view key = reader.text("a key");
    const auto kind = reader.number<std::uint32_t>(key);
    if (!values_.emplace(key, reader.value(kind, key)).second) fail(key, "stands there twice");
  }
  std::vector<Place> places;
  for (std::uint64_t i = 0; i < tensors; ++i) places.push_back(read_head(reader, bytes.size()));
  const auto alignment = std::uint64_t(
      has("general.alignment") ? natural("general.alignment", 1, 1 << 20) : kDefaultAlignment);
  if (!places.empty()) {
    (void)reader.take((alignment - reader.place() % alignment) % alignment,
                      "the space before the tensors");
  }
  find_bytes(std::move(places), bytes.substr(reader.place()), alignment);
}

GgufFile::Place GgufFile::read_head(Reader& reader, std::uint64_t file_bytes) {
  const std::string_view name = reader.text("the name of a tensor");
  const auto rank = reader.number<std::uint32_t>(name);
  if (rank < 1 || rank > kMostRank) {
    fail(name, fmt::format("has {} dimensions, expected 1 to {}", rank, kMostRank));
  }
  std::vector<std::int64_t> sizes;
  std::uint64_t elements = 1;
  for (std::uint32_t d = 0; d < rank; ++d) {
    const auto size = reader.number<std::uint64_t>(name);
    // A number takes half a byte or more, so that the file bounds the product.
    if (size < 1 || size > 2 * file_bytes / elements) {
      fail(name, fmt::format("has size {} in dimension {}, expected 1 to what {} bytes can hold",
                             size, d, file_bytes));
    }
    elements *= size;
    sizes.insert(sizes.begin(), std::int64_t(size));
  }
  const auto number = reader.number<std::uint32_t>(name);
  const GgufType* type = find_gguf_type(number);
  if (!type) {
    throw Unsupported(fmt::format(
        "{}: tensor '{}' has ggml's type {}, expected F32, F16, Q4_0, Q4_1 or Q8_0; convert the "
        "file with llama-quantize",
        who_, printable(std::string(name)), number));
  }
  if (std::uint64_t(sizes.back()) % type->count != 0) {
    fail(name, fmt::format("has rows of {} numbers in blocks of {} ({}), expected whole blocks",
                           sizes.back(), type->count, type->name));
  }
  if (!tensors_.emplace(name, Stored{Shape(sizes), number, {}}).second) {
    fail(name, "stands there twice");
  }
  return {name, reader.number<std::uint64_t>(name), elements / type->count * type->bytes};
}

void GgufFile::find_bytes(std::vector<Place> places, std::string_view data,
                          std::uint64_t alignment) {
  std::ranges::sort(places, {}, &Place::offset);
  std::uint64_t end = 0;
  for (const Place& place : places) {
    if (place.offset % alignment != 0 || place.offset < end || place.offset > data.size() ||
        place.bytes > data.size() - place.offset) {
      fail(place.name,
           fmt::format("lies at {} with {} bytes, expected a multiple of {} from {} on, within {} "
                       "bytes",
                       place.offset, place.bytes, alignment, end, data.size()));
    }
    tensors_.at(place.name).bytes = data.substr(place.offset, place.bytes);
    end = place.offset + place.bytes;
  }
}

template <class T>
const T& GgufFile::value(std::string_view key, std::string_view kind) const {
  const auto found = values_.find(key);
  if (found == values_.end()) fail(key, "is missing from the metadata");
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  fail(key, fmt::format("has another type, expected {}", kind));
}

std::string_view GgufFile::text(std::string_view key) const {
  return value<std::string_view>(key, "a text");
}

std::int64_t GgufFile::natural(std::string_view key, std::int64_t least, std::int64_t most) const {
  const std::int64_t number = value<std::int64_t>(key, "a whole number");
  if (number < least || number > most) {
    fail(key, fmt::format("is {}, expected {} to {}", number, least, most));
  }
  return number;
}

bool GgufFile::flag(std::string_view key) const { return value<bool>(key, "true or false"); }

double GgufFile::real(std::string_view key) const {
  const double number = value<double>(key, "a real number");
  if (!std::isfinite(number)) fail(key, fmt::format("is {}, expected a finite number", number));
  return number;
}

const GgufFile::Texts& GgufFile::texts(std::string_view key) const {
  return value<Texts>(key, "a list of texts");
}
const GgufFile::Naturals& GgufFile::naturals(std::string_view key) const {
  return value<Naturals>(key, "a list of whole numbers");
}

std::vector<std::string_view> GgufFile::tensor_names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, stored] : tensors_) names.push_back(name);
  return names;
}

const Shape& GgufFile::shape(std::string_view tensor) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end()) fail(tensor, "is missing from the tensors");
  return found->second.shape;
}

void GgufFile::expect_tensor(std::string_view name, const Shape& shape) const {
  const Shape& own = this->shape(name);
  if (own != shape) {
    fail(name, fmt::format("is {}, expected {}", to_string(own), to_string(shape)));
  }
}

void GgufFile::read(std::string_view name, const Shape& shape, std::span<float> into) const {
  expect_tensor(name, shape);
  const Stored& stored = tensors_.find(name)->second;
  const GgufType& type = *find_gguf_type(stored.type);
  const auto* block = reinterpret_cast<const unsigned char*>(stored.bytes.data());
  for (std::size_t i = 0; i < into.size(); i += type.count, block += type.bytes) {
    type.read(block, into.data() + i);
  }
}

}  // namespace d5::detail
