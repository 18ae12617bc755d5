// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/tensor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

#include "core/tensor/device_table.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/arena.hpp"

namespace d5 {
namespace {

std::atomic<std::size_t>& budget() {
  static std::atomic<std::size_t> bytes =
      std::size_t(0.8 * double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE)));
  return bytes;
}

}  // namespace

std::size_t memory_budget() { return budget(); }
void set_memory_budget(std::size_t bytes) { budget() = bytes; }

bool TensorDesc::operator==(const TensorDesc& other) const {
  if (dtype != other.dtype || shape != other.shape || layout != other.layout ||
      device != other.device) {
    return false;
  }
  if (arrangement == other.arrangement) return true;
  return arrangement && other.arrangement &&
         arrangement->framework() == other.arrangement->framework() &&
         arrangement->equals(*other.arrangement);
}

std::size_t TensorDesc::bytes() const {
  if (arrangement) return arrangement->bytes();
  std::int64_t result;
  if (__builtin_mul_overflow(shape.elements(), std::int64_t(size_of(dtype)), &result)) {
    throw ShapeError(fmt::format("{} takes more than 2^63 - 1 bytes", to_string(*this)));
  }
  return std::size_t(result);
}

std::string to_string(const TensorDesc& desc) {
  std::string result = fmt::format("{} {}", name_of(desc.dtype), to_string(desc.shape));
  if (desc.arrangement) result += " in " + desc.arrangement->name();
  if (desc.device != Device{}) result += " on " + to_string(desc.device);
  return result;
}

namespace {

/// The size of `desc` if dimensions of 0 were 1.
std::size_t bytes_beside_zeros(TensorDesc desc) {
  for (std::size_t d = 0; d < desc.shape.rank(); ++d) {
    desc.shape[d] = std::max<std::int64_t>(desc.shape[d], 1);
  }
  return desc.bytes();
}

/// Allocates memory on a plug-in's device.
std::shared_ptr<void> allocate_off_host(const TensorDesc& desc, std::size_t bytes) {
  if (desc.dtype == DType::string) {
    throw Unsupported(fmt::format("{}: strings are kept on the host", to_string(desc)));
  }
  return device_memory(desc.device).allocate(desc.device.index, std::max<std::size_t>(bytes, 1));
}

}  // namespace

Tensor Tensor::empty(const TensorDesc& desc) {
  const std::size_t bytes = desc.bytes();
  if (bytes > memory_budget()) {
    throw MemoryError(fmt::format("{} takes {} bytes, above the memory budget of {}",
                                  to_string(desc), bytes, memory_budget()));
  }
  // Loops over an empty tensor's other dimensions do nothing, but they must end.
  if (bytes == 0 && bytes_beside_zeros(desc) > memory_budget()) {
    throw MemoryError(
        fmt::format("{} is empty, but its other sizes make {} bytes, above the memory budget of {}",
                    to_string(desc), bytes_beside_zeros(desc), memory_budget()));
  }
  Tensor result;
  result.desc_ = desc;
  result.elements_ = desc.elements();
  if (desc.device != Device{}) {
    result.owner_ = allocate_off_host(desc, bytes);
    result.data_ = result.owner_.get();
    return result;
  }
  if (desc.dtype == DType::string) {
    auto strings = std::make_shared<std::vector<std::string>>(result.elements_);
    result.data_ = strings->data();
    result.owner_ = std::move(strings);
    return result;
  }
  constexpr std::align_val_t alignment{Arena::kAlignment};
  result.data_ = ::operator new(std::max<std::size_t>(bytes, 1), alignment, std::nothrow);
  if (!result.data_) {
    throw MemoryError(
        fmt::format("{} takes {} bytes, which the system does not have", to_string(desc), bytes));
  }
  result.owner_ = std::shared_ptr<void>(
      result.data_, [](void* p) { ::operator delete(p, std::align_val_t{Arena::kAlignment}); });
  return result;
}

Tensor Tensor::zeros(const TensorDesc& desc) {
  Tensor result = empty(desc);
  if (desc.dtype == DType::string) return result;
  if (desc.device == Device{}) {
    if (result.bytes() > 0) std::memset(result.data_, 0, result.bytes());
    return result;
  }
  const std::lock_guard lock(detail::device_table().copying);
  Stream& stream = detail::device_table().copy_stream(desc.device);
  queue_zero(result, stream);
  stream.synchronise();
  return result;
}

Tensor Tensor::borrow(const TensorDesc& desc, void* data, std::shared_ptr<void> owner) {
  Tensor result;
  result.desc_ = desc;
  result.elements_ = desc.elements();
  result.data_ = data;
  result.owner_ = std::move(owner);
  return result;
}

std::size_t Tensor::bytes() const {
  return desc_.arrangement ? desc_.arrangement->bytes()
                           : std::size_t(elements_) * size_of(desc_.dtype);
}

void Tensor::throw_wrong_type(DType asked) const {
  if (desc_.device != Device{}) {
    throw Unsupported(fmt::format("tensor is {}: the host cannot read it there; use copy({{}})",
                                  to_string(desc_)));
  }
  if (desc_.layout != Layout::row_major) {
    throw Unsupported(fmt::format(
        "tensor is {}: only its framework knows the order of its elements", to_string(desc_)));
  }
  throw TypeError(
      fmt::format("tensor is {}, but {} was asked for", to_string(desc_), name_of(asked)));
}

void Tensor::check_single() const {
  if (elements_ != 1) {
    throw ShapeError(
        fmt::format("tensor is {}, but a single element was asked for", to_string(desc_)));
  }
}

void Tensor::copy_elements_from(const void* values, std::size_t count) {
  if (std::int64_t(count) != elements_) {
    throw ShapeError(fmt::format("{} values were given for {}", count, to_string(desc_)));
  }
  if (desc_.dtype == DType::string) {
    std::copy_n(static_cast<const std::string*>(values), count, static_cast<std::string*>(data_));
  } else if (count > 0) {
    std::memcpy(data_, values, bytes());
  }
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.elements() != elements_) {
    throw ShapeError(
        fmt::format("{} cannot take the shape {}", to_string(desc_), to_string(shape)));
  }
  Tensor result = *this;
  result.desc_.shape = shape;
  return result;
}

Tensor Tensor::slice(std::int64_t begin, std::int64_t end) const {
  if (desc_.shape.rank() == 0 || begin < 0 || end < begin || end > desc_.shape[0]) {
    throw ValueError(fmt::format("slice [{}, {}) of {} is outside its first dimension", begin, end,
                                 to_string(desc_)));
  }
  const std::int64_t row = desc_.shape.elements(1, desc_.shape.rank());
  Tensor result = *this;
  result.desc_.shape[0] = end - begin;
  result.elements_ = row * (end - begin);
  result.data_ = static_cast<std::byte*>(data_) + std::size_t(begin * row) * size_of(desc_.dtype);
  return result;
}

Tensor Tensor::view(std::size_t offset_bytes, const TensorDesc& desc) const {
  const std::size_t size = desc.bytes();
  if (offset_bytes > bytes() || size > bytes() - offset_bytes) {
    throw ShapeError(fmt::format("{} at byte {} reaches past the end of {}", to_string(desc),
                                 offset_bytes, to_string(desc_)));
  }
  if ((desc.dtype == DType::string) != (desc_.dtype == DType::string)) {
    throw TypeError(fmt::format("{} cannot be viewed as {}", to_string(desc_), to_string(desc)));
  }
  if (offset_bytes % std::max<std::size_t>(size_of(desc.dtype), 1) != 0) {
    throw ValueError(
        fmt::format("{} cannot begin at byte {} of {}; it must be a multiple of the "
                    "element's size",
                    to_string(desc), offset_bytes, to_string(desc_)));
  }
  return borrow(desc, static_cast<std::byte*>(data_) + offset_bytes, owner_);
}

Tensor Tensor::copy(Device device) const {
  if (!defined()) return {};
  TensorDesc there = desc_;
  there.device = device;
  Tensor result = empty(there);
  result.copy_from(*this);
  return result;
}

void Tensor::copy_from(const Tensor& other) {
  const auto message = [&] {
    return fmt::format("cannot copy {} into {}", to_string(other.desc_), to_string(desc_));
  };
  if (other.dtype() != dtype()) throw TypeError(message());
  if (other.shape() != shape()) throw ShapeError(message());
  if (other.desc_.layout != Layout::row_major || desc_.layout != Layout::row_major) {
    throw Unsupported(message() + ": the framework that arranged the elements must reorder them");
  }
  if (device() == Device{} && other.device() == Device{}) {
    copy_elements_from(other.data_, std::size_t(other.elements_));
    return;
  }
  const std::lock_guard lock(detail::device_table().copying);
  Stream& stream =
      detail::device_table().copy_stream(device() == Device{} ? other.device() : device());
  queue_copy(*this, other, stream);
  stream.synchronise();
}

std::string to_string(const Tensor& tensor, std::size_t most_elements) {
  if (!tensor.defined()) return "undefined";
  if (tensor.device() != Device{} || tensor.desc().arrangement) return to_string(tensor.desc());
  std::string result = to_string(tensor.desc()) + " [";
  const auto count = std::min<std::size_t>(most_elements, std::size_t(tensor.elements()));
  dispatch(AllTypes{}, tensor.dtype(), "to_string", [&]<class T>() {
    for (std::size_t i = 0; i < count; ++i) {
      const T& value = tensor.data<T>()[i];
      if (i > 0) result += ", ";
      if constexpr (std::is_same_v<T, std::string>) {
        result += '\'' + printable(value) + '\'';
      } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                           std::is_same_v<T, std::complex<double>>) {
        result += fmt::format("{}{:+}i", value.real(), value.imag());
      } else if constexpr (std::is_convertible_v<T, float> && !std::is_arithmetic_v<T> &&
                           !std::is_convertible_v<T, int>) {
        result += fmt::format("{}", float(value));
      } else if constexpr (std::is_arithmetic_v<T>) {
        result += fmt::format("{}", value);
      } else {
        result += fmt::format("{}", float(value));
      }
    }
  });
  if (std::int64_t(count) < tensor.elements()) result += ", ...";
  return result + "]";
}

}  // namespace d5
