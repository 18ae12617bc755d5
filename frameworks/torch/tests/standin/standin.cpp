// SPDX-License-Identifier: Apache-2.0
// "standin": a device that torch's build for the host knows as an extension's (PrivateUse1), and d5
// as `standin:0`. It forgives nothing: the host cannot touch its memory, results arrive late in the
// order of d5's stream, and no argument with a dimension may lie on the host. Torch's functions for
// the host compute its results.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstring>
#include <set>

#include "d5/core/entries/plugin.hpp"
#include "tests/core/plugins/toy_memory.hpp"
#include "torch_device.hpp"

namespace d5::torch {
namespace {

using toy::LateStream;

constexpr auto kType = c10::DeviceType::PrivateUse1;
const c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

class StandinMemory final : public toy::ToyMemory {
 public:
  [[nodiscard]] std::vector<DeviceInfo> devices() const override {
    return {{.device = {.index = 0}, .present = true, .description = "torch's stand-in"}};
  }
};
StandinMemory& device() {
  static auto* const memory = new StandinMemory;  // outlives all of torch's tensors
  return *memory;
}
toy::Memory& memory() { return device().memory(); }

class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device where(kType, 0);
    if (bytes == 0) return {nullptr, where};
    auto* owner = new std::shared_ptr<void>(memory().allocate(bytes));
    constexpr int kNeverWritten = 0xA5;
    std::memset(memory().real(owner->get()), kNeverWritten, bytes);
    return {owner->get(), owner, [](void* p) { delete static_cast<std::shared_ptr<void>*>(p); },
            where};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(memory().real(to), memory().real(from), bytes);
  }
};
Allocator& allocator() {
  static auto* const one = new Allocator;
  return *one;
}

/// The native handle of this thread's stream; 0 is torch's default one, which no work of d5 joins.
thread_local c10::StreamId current = 0;

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::Device getDevice() const override { return {kType, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return stream(current); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(0); }
  c10::Stream exchangeStream(c10::Stream next) const override {
    return stream(std::exchange(current, next.id()));
  }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
    *event = &device();
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}

 private:
  static c10::Stream stream(c10::StreamId id) {
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(kType, 0), id);
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  at::Device getDeviceFromPtr(void*) const override { return {kType, 0}; }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::detail::createCPUGenerator();
  }
};

LateStream* queue() { return reinterpret_cast<LateStream*>(current); }
void finish() {
  if (auto* stream = queue()) stream->synchronise();
}
void later(std::function<void()> task) {
  if (auto* stream = queue()) {
    stream->push(std::move(task));
  } else {
    task();
  }
}

bool is_here(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kType;
}

/// The tensor as the host's functions may touch it.
at::Tensor reach(const at::Tensor& tensor) {
  if (!is_here(tensor)) return tensor;
  const c10::Storage& storage = tensor.storage();
  void* real = storage.data() ? memory().real(storage.data()) : nullptr;
  c10::Storage host(c10::Storage::use_byte_size_t(), storage.nbytes(),
                    c10::DataPtr(real, c10::Device(at::kCPU)), nullptr, /*resizable=*/false);
  auto seen = at::detail::make_tensor<c10::TensorImpl>(
      std::move(host), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  seen.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(),
                                                    tensor.storage_offset());
  return seen;
}
std::optional<at::Tensor> reach(const std::optional<at::Tensor>& tensor) {
  return tensor ? std::optional(reach(*tensor)) : std::nullopt;
}

/// Sizes and strides are those of now; `to` keeps the memory.
void write_later(const at::Tensor& to, const at::Tensor& value) {
  later([to, seen = reach(to), value] {
    const at::AutoDispatchBelowADInplaceOrView below;
    seen.copy_(value);
  });
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> type,
                 std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &allocator(), kKeys, type.value_or(at::kFloat), format);
}
at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                         std::optional<at::ScalarType> type, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(sizes, strides, &allocator(), kKeys,
                                           type.value_or(at::kFloat));
}

/// A tensor of the device that gets the host's elements later.
at::Tensor late(const at::Tensor& value) {
  if (!value.defined()) return value;
  at::Tensor here = empty_strided(value.sizes(), value.strides(), value.scalar_type(), {}, {}, {});
  write_later(here, value);
  return here;
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  finish();
  if (is_here(to)) {
    write_later(to, reach(from).clone());
  } else {
    to.copy_(reach(from));
  }
  return to;
}
at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes()) const_cast<at::Tensor&>(to).resize_(from.sizes());
  return copy_from(from, to, false);
}
at::Scalar local_scalar(const at::Tensor& tensor) {
  finish();
  return reach(tensor).item();
}
const at::Tensor& resize(const at::Tensor& tensor, c10::SymIntArrayRef symbols,
                         std::optional<at::MemoryFormat>) {
  const auto sizes = C10_AS_INTARRAYREF_SLOW(symbols);
  auto* impl = tensor.unsafeGetTensorImpl();
  const auto bytes =
      std::size_t(c10::multiply_integers(sizes) + impl->storage_offset()) * impl->itemsize();
  auto& storage = const_cast<c10::Storage&>(tensor.storage());
  if (bytes > storage.nbytes()) {
    finish();
    c10::DataPtr larger = allocator().allocate(bytes);
    if (storage.nbytes() > 0) {
      allocator().copy_data(larger.get(), storage.data(), storage.nbytes());
    }
    storage.set_data_ptr_noswap(std::move(larger));
    storage.set_nbytes(bytes);
  }
  impl->set_sizes_contiguous(sizes);
  return tensor;
}

at::Tensor view(const at::Tensor& x, c10::IntArrayRef sizes) { return at::native::view(x, sizes); }
at::Tensor as_strided(const at::Tensor& x, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                      std::optional<std::int64_t> offset) {
  return at::native::as_strided_tensorimpl(x, sizes, strides, offset);
}
at::Tensor reshape_alias(const at::Tensor& x, c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  return at::native::_reshape_alias(x, sizes, strides);
}
at::Tensor unfold(const at::Tensor& x, std::int64_t dim, std::int64_t size, std::int64_t step) {
  return at::native::unfold(x, dim, size, step);
}

at::Tensor convolution(const at::Tensor& x, const at::Tensor& w,
                       const std::optional<at::Tensor>& bias, c10::IntArrayRef stride,
                       c10::IntArrayRef padding, c10::IntArrayRef dilation, bool transposed,
                       c10::IntArrayRef output_padding, std::int64_t groups) {
  finish();
  return late(at::convolution(reach(x), reach(w), reach(bias), stride, padding, dilation,
                              transposed, output_padding, groups));
}
std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& dy, const at::Tensor& x, const at::Tensor& w, c10::IntArrayRef stride,
    c10::IntArrayRef padding, c10::IntArrayRef dilation, bool transposed,
    c10::IntArrayRef output_padding, std::int64_t groups, std::array<bool, 3> wanted) {
  finish();
  const std::vector<std::int64_t> bias = {transposed ? w.size(1) * groups : w.size(0)};
  const auto [dx, dw, db] = at::convolution_backward(
      reach(dy), reach(x), reach(w), at::OptionalIntArrayRef(c10::IntArrayRef(bias)), stride,
      padding, dilation, transposed, output_padding, groups, wanted);
  return {late(dx), late(dw), late(db)};
}

/// A call of any other function: its arguments as the host sees them, and the arguments that it
/// writes, which it gets as copies.
class HostCall {
 public:
  explicit HostCall(const c10::OperatorHandle& op)
      : op_(op), name_(c10::toString(op.operator_name())) {}

  void run(::torch::jit::Stack* stack) {
    finish();
    const auto& arguments = op_.schema().arguments();
    const std::size_t first = stack->size() - arguments.size();
    ::torch::jit::Stack host;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      host.push_back(argument((*stack)[first + i], arguments[i]));
    }
    op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &host);
    for (const auto& [original, copy] : written_) {
      if (copy.sizes() != original.sizes()) original.resize_(copy.sizes());
      write_later(original, copy);
    }
    ::torch::jit::drop(*stack, arguments.size());
    for (const c10::IValue& value : host) stack->push_back(result(value));
  }

 private:
  c10::IValue argument(const c10::IValue& value, const c10::Argument& declared) {
    if (value.isTensor()) return seen(value.toTensor(), declared);
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& one : value.toTensorVector()) list.push_back(seen(one, declared));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const auto& one : value.toOptionalTensorVector()) {
        list.push_back(one ? std::optional(seen(*one, declared)) : std::nullopt);
      }
      return list;
    }
    return value.isDevice() ? c10::IValue(c10::Device(at::kCPU)) : value;
  }

  at::Tensor seen(const at::Tensor& tensor, const c10::Argument& declared) {
    if (!is_here(tensor)) {
      // Numbers may come from the host, and so may indices, as for torch on GPUs.
      const bool may_differ =
          name_.starts_with("aten::index") || name_.starts_with("aten::_index_put_impl_");
      TORCH_CHECK(!tensor.defined() || tensor.dim() == 0 || may_differ, "standin: ", name_,
                  " got '", declared.name(), "' on ", tensor.device());
      return tensor;
    }
    const at::Tensor host = reach(tensor);
    if (!declared.alias_info() || !declared.alias_info()->isWrite()) return host;
    at::Tensor copy = at::empty_strided(tensor.sizes(), tensor.strides(), host.options());
    copy.copy_(host);
    written_.emplace_back(tensor, copy);
    return copy;
  }

  c10::IValue result(const c10::IValue& value) const {
    if (value.isTensor()) return given(value.toTensor());
    if (!value.isTensorList()) return value;
    c10::List<at::Tensor> list;
    for (const at::Tensor& one : value.toTensorVector()) list.push_back(given(one));
    return list;
  }
  at::Tensor given(const at::Tensor& tensor) const {
    for (const auto& [original, copy] : written_) {
      if (tensor.defined() && tensor.is_same(copy)) return original;
    }
    return late(tensor);
  }

  const c10::OperatorHandle& op_;
  std::string name_;
  std::vector<std::pair<at::Tensor, at::Tensor>> written_;
};

void call_host(const c10::OperatorHandle& op, ::torch::jit::Stack* stack) {
  HostCall(op).run(stack);
}

void fill(Framework& framework) {
  c10::register_privateuse1_backend("standin");
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  c10::SetAllocator(kType, &allocator());
  device().kind =
      add_device(framework, "standin",
                 std::shared_ptr<DeviceMemory>(&device(), [](DeviceMemory*) {}), kExtensionDevice);
}

}  // namespace
}  // namespace d5::torch

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  using namespace d5::torch;
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  library.impl("_local_scalar_dense", local_scalar);
  library.impl("resize_", resize);
  library.impl("view", view);
  library.impl("as_strided", as_strided);
  library.impl("_reshape_alias", reshape_alias);
  library.impl("unfold", unfold);
  library.impl("view_as_real", at::native::view_as_real);
  library.impl("view_as_complex", at::native::view_as_complex);
  library.impl("convolution_overrideable", convolution);
  library.impl("convolution_backward_overrideable", convolution_backward);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(::torch::CppFunction::makeFromBoxedFunction<&d5::torch::call_host>());
}

D5_FRAMEWORK_PLUGIN("standin", "1.0", d5::torch::fill)
