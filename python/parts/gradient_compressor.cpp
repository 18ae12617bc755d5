// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "lent_inputs.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"
#include "python_state.hpp"

namespace d5::python {
namespace {

/// A d5.GradientCompressor in Python: every rank gets the messages of all.
class CompressorInPython final : public GatheredCompressor {
 public:
  /// Call with the GIL.
  explicit CompressorInPython(const py::object& self) : self_(self) {
    for (const auto& [name, expected] : {std::pair("message_bytes", "message_bytes(elements)"),
                                         std::pair("compress", "compress(values, seed)"),
                                         std::pair("expand", "expand(message, elements)")}) {
      if (!overrides(self, "GradientCompressor", name)) throw_lacks_method(self, name, expected);
    }
    expect_state_pair(self, "GradientCompressor");
    leaves_rest_ = self.attr("leaves_rest").cast<bool>();
    by_part_ = self.attr("by_part").cast<bool>();
    keeps_state_ = overrides(self, "GradientCompressor", "state");
  }
  [[nodiscard]] bool leaves_rest() const override { return leaves_rest_; }
  [[nodiscard]] bool by_part() const override { return by_part_; }
  [[nodiscard]] std::int64_t message_bytes(std::int64_t elements) const override {
    return call_python([&] {
      return answered<std::int64_t>(self_.object.attr("message_bytes")(elements), self_.object,
                                    "message_bytes()", "a whole number");
    });
  }
  void compress(std::span<const float> value, RandomStream& random,
                std::span<std::uint8_t> message) override {
    const std::uint64_t seed = drawn_seed(random);
    call_python([&] {
      const LeaseScope call("a compressor's call");
      const Tensor read = Tensor::borrow({DType::float32, {std::int64_t(value.size())}},
                                         const_cast<float*>(value.data()));
      const Tensor told =
          to_tensor(self_.object.attr("compress")(lend_input(read, call.lease()), seed));
      if (told.bytes() != message.size()) {
        throw ShapeError(fmt::format(
            "a compressor in Python: compress gave {} bytes, but message_bytes({}) is {}",
            told.bytes(), value.size(), message.size()));
      }
      std::copy_n(static_cast<const std::uint8_t*>(told.raw()), message.size(), message.data());
    });
  }
  void add(std::span<const std::uint8_t> message, float factor,
           std::span<float> values) const override {
    call_python([&] {
      const LeaseScope call("a compressor's call");
      const Tensor read = Tensor::borrow({DType::uint8, {std::int64_t(message.size())}},
                                         const_cast<std::uint8_t*>(message.data()));
      const Tensor said =
          to_tensor(self_.object.attr("expand")(lend_input(read, call.lease()), values.size()));
      if (said.dtype() != DType::float32 || said.elements() != std::int64_t(values.size())) {
        throw ShapeError(
            fmt::format("a compressor in Python: expand gave {}, expected float32 of {} elements",
                        to_string(said.desc()), values.size()));
      }
      const auto from = said.span<float>();
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += factor * from[i];
    });
  }
  [[nodiscard]] ValueMap state() const override {
    return keeps_state_ ? python_state_of(self_) : ValueMap();
  }
  void restore(const ValueMap& state) override {
    if (keeps_state_) restore_python_state(self_, state);
  }

 private:
  PythonReference self_;
  bool leaves_rest_ = true, by_part_ = false, keeps_state_ = false;
};

std::shared_ptr<GradientCompressor> compressor_of(const py::object& made) {
  expect_derived(made, "GradientCompressor");
  return std::make_shared<CompressorInPython>(made);
}

}  // namespace

void register_gradient_compressor(py::module_& m) {
  const auto make = [](const PythonEntry& entry, const PythonOptions& own) {
    return entry.make(own, &compressor_of);
  };
  part_kinds().add(
      gradient_compressors().kind(),
      {.base = "GradientCompressor", .needs = 0, .add = adding_to(gradient_compressors(), make)});
  m.def("gradient_compressors", [] { return gradient_compressors().names(); });
}

}  // namespace d5::python
