// SPDX-License-Identifier: Apache-2.0
#include "core/capsule.hpp"

#include <fmt/format.h>

#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/device_memory.hpp"
#include "d5/core/tensor/dlpack.hpp"

namespace d5::python {
namespace {

/// A consumer renames the capsule when it takes ownership.
template <class Managed>
py::capsule capsule_of(Managed* managed, const char* name) {
  return py::capsule(managed, name, [](PyObject* capsule) {
    const char* own = PyCapsule_GetName(capsule);
    if (!own || std::string_view(own).starts_with("used_")) return;
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, own));
    managed->deleter(managed);
  });
}

bool knows_versions(const Anything& max_version) {
  return !max_version.is_none() && max_version.cast<std::pair<int, int>>().first >= 1;
}

/// The tensor on the consumer's device, and whether it is a copy.
std::pair<Tensor, bool> on_device(const Tensor& tensor, const Anything& wanted,
                                  const Anything& copy) {
  const bool must_copy = !copy.is_none() && copy.cast<bool>();
  const bool must_not = !copy.is_none() && !must_copy;
  Device device = tensor.device();
  if (!wanted.is_none()) {
    const auto [kind, index] = wanted.cast<std::pair<int, int>>();
    if (kind != int(device.kind) || index != device.index) device = Device{DeviceKind(kind), index};
  }
  if (device == tensor.device() && !must_copy) return {tensor, false};
  if (must_not) {
    throw py::buffer_error(fmt::format("{} was requested on {} without a copy",
                                       to_string(tensor.desc()), to_string(device)));
  }
  if (device != Device{} && device != tensor.device()) {
    throw py::buffer_error(fmt::format("{} is available on its device and on the host, not on {}",
                                       to_string(tensor.desc()), to_string(device)));
  }
  return {tensor.copy(device), true};
}

}  // namespace

py::capsule to_capsule(const HeldTensor& held, const Anything& stream, const Anything& max_version,
                       const Anything& device, const Anything& copy) {
  const auto [tensor, copied] = on_device(held.readable(), device, copy);
  if (tensor.device() == Device{} && !stream.is_none()) {
    throw py::buffer_error("a tensor in the host's memory has no stream");
  }
  if (knows_versions(max_version)) {
    const bool read_only = held.read_only && !copied;
    const std::uint64_t flags = (read_only ? kDlpackReadOnly : 0) | (copied ? kDlpackCopied : 0);
    return capsule_of(to_versioned_dlpack(tensor, flags), "dltensor_versioned");
  }
  // JAX, whose arrays are immutable, reads what it is lent for a call by the unversioned protocol.
  if (held.read_only && !held.lease && !copied) {
    throw py::buffer_error(
        "the tensor is read-only, which only DLPack's version 1 can say: ask with max_version, or "
        "take tensor.copy()");
  }
  return capsule_of(to_dlpack(tensor), "dltensor");
}

}  // namespace d5::python
