// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "d5/core/tensor/device.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "d5/core/tensor/shape.hpp"

namespace d5 {

enum class Layout : std::uint8_t {
  row_major,  ///< dense, the last dimension contiguous
  opaque,     ///< known only to the framework that made it (blocked, compressed)
};

/// A framework's own memory format. A kernel that requests one makes its output opaque; other
/// frameworks get a row-major copy from the framework's reorder.
class Arrangement {
 public:
  explicit Arrangement(std::string framework) : framework_(std::move(framework)) {}
  virtual ~Arrangement() = default;
  /// The framework that knows the format and reorders it to and from row-major.
  [[nodiscard]] const std::string& framework() const { return framework_; }
  /// Name in messages: "nChw16c".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Size in memory, including padding.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// `other` must be of the same framework.
  [[nodiscard]] virtual bool equals(const Arrangement& other) const = 0;

 private:
  std::string framework_;
};

/// Description of a tensor, without its data.
struct TensorDesc {
  DType dtype = DType::undefined;
  Shape shape;
  Layout layout = Layout::row_major;
  Device device = {};
  std::shared_ptr<const Arrangement> arrangement = {};  ///< for opaque layouts only

  [[nodiscard]] std::int64_t elements() const { return shape.elements(); }
  /// Throws: ShapeError if the product overflows.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] bool operator==(const TensorDesc& other) const;
};

/// "float32 2x3x4"; with a non-default arrangement and device: "float32 2x3x4 in nChw16c on
/// cuda:0".
[[nodiscard]] std::string to_string(const TensorDesc& desc);

/// A dense row-major array with shared storage. Copying a Tensor shares; `view`, `reshaped` and
/// `slice` share; `copy` allocates.
///
/// Thread safety: as `std::shared_ptr`: handles may be copied on any thread; the caller
/// synchronises access to the data.
class Tensor {
 public:
  Tensor() = default;

  /// Allocates memory on `desc.device`, 64-byte aligned, with undefined contents (strings: empty).
  /// Throws: MemoryError above `memory_budget()`, before allocating; Unsupported for an unknown
  /// device, and for strings on a device other than the host.
  [[nodiscard]] static Tensor empty(const TensorDesc& desc);
  [[nodiscard]] static Tensor empty(DType dtype, const Shape& shape) {
    return empty(TensorDesc{dtype, shape});
  }
  [[nodiscard]] static Tensor zeros(const TensorDesc& desc);
  [[nodiscard]] static Tensor zeros(DType dtype, const Shape& shape) {
    return zeros(TensorDesc{dtype, shape});
  }
  /// A tensor on existing memory, kept alive by `owner`, without a copy.
  [[nodiscard]] static Tensor borrow(const TensorDesc& desc, void* data,
                                     std::shared_ptr<void> owner = nullptr);
  /// A copy of `values`. Throws: ShapeError if their number is not `shape.elements()`.
  template <class T>
  [[nodiscard]] static Tensor of(const Shape& shape, std::span<const T> values) {
    Tensor result = empty(dtype_of<T>, shape);
    result.copy_elements_from(values.data(), values.size());
    return result;
  }
  template <class T>
  [[nodiscard]] static Tensor of(const Shape& shape, std::initializer_list<T> values) {
    return of<T>(shape, std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  [[nodiscard]] static Tensor vector(const std::vector<T>& values) {
    return of<T>({static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
  }
  template <class T>
  [[nodiscard]] static Tensor scalar(T value) {
    return of<T>({}, {std::move(value)});
  }

  [[nodiscard]] bool defined() const { return desc_.dtype != DType::undefined; }
  [[nodiscard]] const TensorDesc& desc() const { return desc_; }
  [[nodiscard]] DType dtype() const { return desc_.dtype; }
  [[nodiscard]] const Shape& shape() const { return desc_.shape; }
  [[nodiscard]] Device device() const { return desc_.device; }
  [[nodiscard]] std::int64_t elements() const { return elements_; }
  [[nodiscard]] std::size_t bytes() const;

  /// The address on `device()`. Unless that is the host, only the device's kernels and copies may
  /// use it.
  [[nodiscard]] void* raw() { return data_; }
  [[nodiscard]] const void* raw() const { return data_; }
  /// The elements on the host. Throws: TypeError if T is not the element type; Unsupported if the
  /// elements are on another device (use `copy({})`) or in an opaque layout.
  template <class T>
  [[nodiscard]] T* data() {
    check_type(dtype_of<T>);
    return static_cast<T*>(data_);
  }
  template <class T>
  [[nodiscard]] const T* data() const {
    check_type(dtype_of<T>);
    return static_cast<const T*>(data_);
  }
  template <class T>
  [[nodiscard]] std::span<T> span() {
    return {data<T>(), static_cast<std::size_t>(elements_)};
  }
  template <class T>
  [[nodiscard]] std::span<const T> span() const {
    return {data<T>(), static_cast<std::size_t>(elements_)};
  }
  /// The only element. Throws: ShapeError if there are more, or none.
  template <class T>
  [[nodiscard]] T item() const {
    check_single();
    return *data<T>();
  }

  /// A view of the elements with another shape. Throws: ShapeError if the number of elements
  /// differs.
  [[nodiscard]] Tensor reshaped(const Shape& shape) const;
  /// A view of the elements [begin, end) of dimension 0. Throws: ValueError outside the range.
  [[nodiscard]] Tensor slice(std::int64_t begin, std::int64_t end) const;
  /// A view of this tensor's storage as `desc`, from `offset_bytes` on. Throws: ShapeError past the
  /// end; ValueError if the offset is not a multiple of the element's size; TypeError between
  /// strings and other types.
  [[nodiscard]] Tensor view(std::size_t offset_bytes, const TensorDesc& desc) const;
  /// A deep copy on the same device.
  [[nodiscard]] Tensor copy() const { return copy(device()); }
  /// A deep copy on another device, complete on return. `queue_copy` does not wait.
  [[nodiscard]] Tensor copy(Device device) const;
  /// This tensor if it is on the host, otherwise a copy on the host.
  [[nodiscard]] Tensor on_host() const { return device() == Device{} ? *this : copy(Device{}); }
  /// Overwrites the elements, also from another device; complete on return.
  /// Throws: ShapeError, TypeError if type or shape differ.
  void copy_from(const Tensor& other);

  [[nodiscard]] const std::shared_ptr<void>& owner() const { return owner_; }
  [[nodiscard]] bool shares_storage_with(const Tensor& other) const {
    return owner_ && owner_ == other.owner_;
  }

 private:
  void check_type(DType dtype) const {
    if (dtype != desc_.dtype || desc_.device.kind != DeviceKind::cpu ||
        desc_.layout != Layout::row_major) [[unlikely]]
      throw_wrong_type(dtype);
  }
  [[noreturn]] void throw_wrong_type(DType asked) const;
  void check_single() const;
  void copy_elements_from(const void* values, std::size_t count);

  TensorDesc desc_;
  std::int64_t elements_ = 0;
  void* data_ = nullptr;
  std::shared_ptr<void> owner_;
};

/// Limit of the bytes of one tensor or one plan. Initially 80% of the machine's memory.
[[nodiscard]] std::size_t memory_budget();
void set_memory_budget(std::size_t bytes);

/// Text for people: the description, then the first elements.
[[nodiscard]] std::string to_string(const Tensor& tensor, std::size_t most_elements = 8);

}  // namespace d5
