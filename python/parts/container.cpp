// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/container.hpp"

#include <pybind11/trampoline_self_life_support.h>

#include "lent_inputs.hpp"
#include "level2_training/data/described_fields.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kContainerHelp =
    R"(A file format for samples with random access; base class of containers in Python.

    class Npz(d5.Container):
        extension = "npz"
        def open(self, files):
            return MyDataset(files)                       # a d5.Dataset
        def create(self, path, fields):
            return MyWriter(path, fields)                 # a d5.ContainerWriter

A sample's fields (`fields`: {name: (type, shape)}), its name and each of its bytes are read back as they
were written. `files` are the shards, in order. A container that cannot write has no `create`.)";

constexpr const char* kWriterHelp =
    R"(Writes one file of samples; base class of writers in Python, which have `add(name, sample)` (arrays by
field), `finish()`, after which the file is complete, and `bytes()`: about the size that the file would have
if it ended here.)";

class PythonWriter final : public ContainerWriter, public py::trampoline_self_life_support {
 public:
  void take(std::vector<Dataset::Field> fields) { fields_ = std::move(fields); }
  void add(const std::string& name, std::span<const Tensor> sample) override {
    call_python([&] {
      const py::function method =
          method_of<ContainerWriter>(this, "add", "add(name, sample), a dict of arrays");
      const LeaseScope lease("a container's call");
      Values arrays;
      for (std::size_t f = 0; f < fields_.size(); ++f) {
        const auto dims = sample[f].shape().dims();
        arrays[py::cast(fields_[f].name)] =
            lend_input(sample[f].reshaped(Shape(dims.subspan(1))), lease.lease());
      }
      method(name, arrays);
    });
  }
  [[nodiscard]] std::size_t bytes() const override {
    return call_python([&]() -> std::size_t {
      const py::function method = override_of(static_cast<const ContainerWriter*>(this), "bytes");
      return method ? method().cast<std::size_t>() : 0;
    });
  }
  void finish() override {
    call_python([&] { method_of<ContainerWriter>(this, "finish", "finish()")(); });
  }

 private:
  std::vector<Dataset::Field> fields_;
};

class PythonContainer final : public Container, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] std::string extension() const override {
    return call_python([&]() -> std::string {
      const py::object self = py::cast(static_cast<const Container*>(this));
      const py::object word = py::getattr(py::type::of(self), "extension");
      if (py::isinstance<py::str>(word)) return word.cast<std::string>();
      throw_lacks_method(self, "extension", "a class attribute: the ending of its files' names");
    });
  }
  [[nodiscard]] std::shared_ptr<const Dataset> open(const std::vector<std::string>& files,
                                                    const Interrupt&) const override {
    return call_python([&]() -> std::shared_ptr<const Dataset> {
      const py::object made =
          method_of<Container>(this, "open", "open(files), which returns a d5.Dataset")(files);
      return expected_part<Dataset>(made, "a d5.Dataset");
    });
  }
  [[nodiscard]] std::unique_ptr<ContainerWriter> create(
      const std::string& path, const std::vector<Dataset::Field>& fields) const override;
};

/// Forwards to the writer that the class made, and keeps it.
class HeldWriter final : public ContainerWriter {
 public:
  explicit HeldWriter(std::shared_ptr<ContainerWriter> writer) : writer_(std::move(writer)) {}
  void add(const std::string& name, std::span<const Tensor> sample) override {
    writer_->add(name, sample);
  }
  [[nodiscard]] std::size_t bytes() const override { return writer_->bytes(); }
  void finish() override { writer_->finish(); }

 private:
  std::shared_ptr<ContainerWriter> writer_;
};

std::unique_ptr<ContainerWriter> PythonContainer::create(
    const std::string& path, const std::vector<Dataset::Field>& fields) const {
  return call_python([&]() -> std::unique_ptr<ContainerWriter> {
    const py::object made =
        method_of<Container>(this, "create",
                             "create(path, fields), which returns a d5.ContainerWriter; without it "
                             "the container can only be read")(path, words_of(fields));
    auto writer = expected_part<ContainerWriter>(made, "a d5.ContainerWriter");
    if (auto* in_python = dynamic_cast<PythonWriter*>(writer.get())) in_python->take(fields);
    return std::make_unique<HeldWriter>(std::move(writer));
  });
}

}  // namespace

void register_container(py::module_& m) {
  py::classh<ContainerWriter, PythonWriter> writer(m, "ContainerWriter", kWriterHelp);
  writer.def(py::init<>());
  writer.attr("_hooks") = "add finish bytes";
  let_derive(writer);
  py::classh<Container, PythonContainer> container(m, "Container", kContainerHelp);
  container.def(py::init<>());
  container.attr("_hooks") = "open create";
  let_derive(container);
  add_part_kind<Container>(containers(), "Container");
}

}  // namespace d5::python
