// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/custom/c_operator.hpp"

#include <fmt/format.h>

#include <exception>
#include <list>
#include <type_traits>

#include "d5/core/errors/error.hpp"
#include "level0_ops/operator/custom/c_status.hpp"
#include "level0_ops/operator/custom/operator_communicators.hpp"

namespace d5::detail {
namespace {

/// Calls a function of the table, and throws its error, or an exception that it lets escape.
/// Formats messages only on failure.
template <class F>
void ask(const onnx::Node& node, const F& function) {
  d5_error error{};
  d5_status status = D5_OK;
  try {
    status = function(&error);
  } catch (const std::exception& thrown) {
    throw Error(
        fmt::format("{}: threw: {}", onnx::describe(node), printable_message(thrown.what())));
  } catch (...) {
    throw Error(
        fmt::format("{}: threw something other than a std::exception", onnx::describe(node)));
  }
  if (status == D5_OK) return;
  error.message[sizeof error.message - 1] = '\0';
  throw_status(status, fmt::format("{}: {}", onnx::describe(node),
                                   error.message[0] ? printable_message(error.message)
                                                    : "failed without a message"));
}

/// A node's attributes in C; the node must outlive it.
class AttributeTable {
 public:
  explicit AttributeTable(const onnx::Node& node) {
    for (const auto& [name, attribute] : node.attributes) {
      d5_attribute entry{name.c_str(), 0, 0, nullptr, nullptr, nullptr};
      if (std::visit([&](const auto& value) { return fill(entry, value); }, attribute)) {
        entries_.push_back(entry);
      }
    }
  }
  [[nodiscard]] const std::vector<d5_attribute>& entries() const { return entries_; }

 private:
  bool fill(d5_attribute& entry, const std::int64_t& value) {
    return set(entry, D5_ATTRIBUTE_INT, entry.integers, &value, 1);
  }
  bool fill(d5_attribute& entry, const float& value) {
    return set(entry, D5_ATTRIBUTE_FLOAT, entry.floats, &value, 1);
  }
  bool fill(d5_attribute& entry, const std::string& value) {
    return set(entry, D5_ATTRIBUTE_STRING, entry.strings,
               words_.emplace_back(1, value.c_str()).data(), 1);
  }
  bool fill(d5_attribute& entry, const std::vector<std::int64_t>& values) {
    return set(entry, D5_ATTRIBUTE_INTS, entry.integers, values.data(), values.size());
  }
  bool fill(d5_attribute& entry, const std::vector<float>& values) {
    return set(entry, D5_ATTRIBUTE_FLOATS, entry.floats, values.data(), values.size());
  }
  bool fill(d5_attribute& entry, const std::vector<std::string>& values) {
    auto& words = words_.emplace_back();
    for (const auto& value : values) words.push_back(value.c_str());
    return set(entry, D5_ATTRIBUTE_STRINGS, entry.strings, words.data(), words.size());
  }
  bool fill(d5_attribute&, const auto&) { return false; }

  template <class T>
  static bool set(d5_attribute& entry, d5_attribute_kind kind, T& place,
                  std::type_identity_t<T> values, std::size_t count) {
    entry.kind = kind;
    entry.count = count;
    place = values;
    return true;
  }

  std::vector<d5_attribute> entries_;
  std::list<std::vector<const char*>> words_;
};

/// An instance made by `create`.
class Instance {
 public:
  Instance(const d5_operator& table, const onnx::Node& node) : destroy_(table.destroy) {
    if (!table.create) return;
    const AttributeTable attributes(node);
    const Asking asking{{sizeof(d5_node), node.name.c_str(), node.op_type.c_str(), node.opset,
                         node.inputs.size(), node.outputs.size(), attributes.entries().data(),
                         attributes.entries().size(), &give_communicator},
                        &node,
                        this};
    ask(node, [&](d5_error* error) { return table.create(&asking.node, &self_, error); });
  }
  ~Instance() {
    if (destroy_) destroy_(self_);
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  [[nodiscard]] void* self() const { return self_; }
  /// Whether it uses a communicator.
  [[nodiscard]] bool communicates() const { return !communicators_.empty(); }

 private:
  /// A node and its instance, for the request of a communicator.
  struct Asking {
    d5_node node;
    const onnx::Node* of;
    Instance* instance;
  };

  static d5_status give_communicator(const d5_node* node, const char* group,
                                     const d5_communicator** result, d5_error* error) {
    const auto* asking = reinterpret_cast<const Asking*>(node);
    return answer_in_c(error, [&] {
      const auto* told = asking->of->attribute<std::string>("group");
      const std::string name = group ? group : told ? *told : "world";
      auto& given = asking->instance->communicators_;
      *result = given.emplace_back(operator_communicator(name)).get();
    });
  }

  void (*destroy_)(void*);
  void* self_ = nullptr;
  std::vector<std::shared_ptr<const d5_communicator>> communicators_;
};

constexpr d5_tensor kLeftOut{nullptr, nullptr, 0, 0};

d5_tensor to_c(const TensorDesc& desc, const void* data) {
  return {const_cast<void*>(data), desc.shape.dims().data(), std::int32_t(desc.shape.rank()),
          std::int32_t(desc.dtype)};
}
d5_tensor to_c(const Tensor* tensor) {
  return tensor ? to_c(tensor->desc(), tensor->raw()) : kLeftOut;
}
d5_tensor to_c(const Value* value) { return value ? to_c(&value->tensor()) : kLeftOut; }

template <class Pointers>
void to_c(std::vector<d5_tensor>& tensors, const Pointers& pointers) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i] = i < pointers.size() ? to_c(pointers[i]) : kLeftOut;
  }
}

/// Owns an instance, and memory for the arguments of calls.
class CKernel final : public Kernel {
 public:
  using Run = decltype(d5_operator::forward);

  CKernel(const d5_operator& table, Run forward, Run backward, const PlanContext& context)
      : forward_(forward),
        backward_(backward),
        instance_(table, context.node()),
        device_(context.device()),
        inputs_(context.input_count()),
        outputs_(context.output_count()),
        grad_outputs_(outputs_.size()),
        grad_inputs_(inputs_.size()) {}

  void forward(OpContext& context) override {
    // Requesting random numbers prevents constant folding.
    if (instance_.communicates()) (void)context.services().random();
    const d5_call call = call_on(context);
    ask(context.node(), [&](d5_error* error) { return forward_(instance_.self(), &call, error); });
  }

  void backward(GradContext& context) override {
    if (!backward_) return Kernel::backward(context);
    to_c(grad_outputs_, context.grad_outputs);
    to_c(grad_inputs_, context.grad_inputs);
    d5_call call = call_on(context);
    call.grad_outputs = grad_outputs_.data();
    call.grad_inputs = grad_inputs_.data();
    ask(context.node(), [&](d5_error* error) { return backward_(instance_.self(), &call, error); });
  }

 private:
  template <class Context>
  d5_call call_on(const Context& context) {
    to_c(inputs_, context.inputs);
    to_c(outputs_, context.outputs);
    return {.size = sizeof(d5_call),
            .inputs = inputs_.data(),
            .input_count = inputs_.size(),
            .outputs = outputs_.data(),
            .output_count = outputs_.size(),
            .grad_outputs = nullptr,
            .grad_inputs = nullptr,
            .device = {std::int32_t(device_.kind), device_.index},
            .stream = context.stream().native()};
  }

  Run forward_, backward_;
  Instance instance_;
  Device device_;
  std::vector<d5_tensor> inputs_, outputs_, grad_outputs_, grad_inputs_;
};

/// d5's operator for an entry of a table.
class COperator final : public Operator {
 public:
  COperator(const d5_operator& table, const onnx::Node& node)
      : table_(table), instance_(table, node) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto inputs = c_inputs(context);
    std::vector<d5_tensor_desc> outputs(context.output_count());
    ask(context.node(), [&](d5_error* error) {
      return table_.infer(instance_.self(), inputs.data(), inputs.size(), outputs.data(),
                          outputs.size(), error);
    });
    std::vector<ValueDesc> result;
    for (const d5_tensor_desc& output : outputs) {
      result.push_back(checked(output, context.who()));
    }
    return result;
  }

  Places gradients() const override { return table_.backward ? Places::all() : Places{}; }

  Cost cost(const InferContext& context) const override {
    if (!table_.flop) return bytes_only(context);
    const auto inputs = c_inputs(context);
    double flop = 0;
    ask(context.node(), [&](d5_error* error) {
      return table_.flop(instance_.self(), inputs.data(), inputs.size(), &flop, error);
    });
    return with_flop(context, flop);
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const DeviceKind asked = context.device().kind;
    const auto own = table_.device_kind == 0 ? DeviceKind::cpu : DeviceKind(table_.device_kind);
    if (asked == own) {
      return std::make_unique<CKernel>(table_, table_.forward, table_.backward, context);
    }
    if (asked == DeviceKind::cuda && table_.forward_cuda) {
      return std::make_unique<CKernel>(table_, table_.forward_cuda, table_.backward_cuda, context);
    }
    throw Unsupported(fmt::format(
        "{}: its library computes on {}, not on {}; give it to a framework of that device",
        context.who(), to_string(Device{own}), to_string(context.device())));
  }

 private:
  /// The C interface has no strings, and no values other than tensors.
  static std::vector<d5_tensor> c_inputs(const InferContext& context) {
    std::vector<d5_tensor> result(context.input_count(), kLeftOut);
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (!context.has_input(i)) continue;
      if (context.dtype(i) == DType::string) {
        throw TypeError(fmt::format("{}: input {} is of strings, which C operators cannot read",
                                    context.who(), i));
      }
      const Tensor* constant = context.constant(i);
      result[i] = to_c(context.input(i), constant ? constant->raw() : nullptr);
    }
    return result;
  }

  static ValueDesc checked(const d5_tensor_desc& output, const std::string& who) {
    bool valid = output.dtype > 0 && output.dtype < kDTypeCount &&
                 DType(output.dtype) != DType::string && output.rank >= 0 &&
                 output.rank <= D5_MOST_DIMS;
    Shape shape;
    for (std::int32_t d = 0; valid && d < output.rank; ++d) {
      valid = output.dims[d] >= 0;
      shape.push_back(output.dims[d]);
    }
    if (!valid) {
      throw ShapeError(
          fmt::format("{}: its infer function gave element type {} and rank {} with an "
                      "invalid dimension",
                      who, output.dtype, output.rank));
    }
    return TensorDesc{DType(output.dtype), shape};
  }

  d5_operator table_;
  Instance instance_;
};

}  // namespace

std::unique_ptr<Operator> make_c_operator(const d5_operator& table, const onnx::Node& node) {
  return std::make_unique<COperator>(table, node);
}

}  // namespace d5::detail
