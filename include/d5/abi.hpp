// SPDX-License-Identifier: Apache-2.0
#pragma once

// Custom operators as C++ classes, on top of the C interface of d5/abi.h. The compiled library does
// not link d5. Requires C++20.
//
//     template <class T>
//     struct Twice {
//       static constexpr const char* kName = "Twice";
//       static constexpr const char* kDomain = "example";
//       std::vector<d5::abi::Desc> infer(const d5::abi::Inputs& inputs) const {
//         return {d5::abi::desc_of<T>(inputs.dims<T>(0))};
//       }
//       void forward(const d5::abi::Call& call) {
//         const auto x = call.input<T>(0);
//         const auto y = call.output<T>(0);
//         for (std::int64_t i = 0; i < x.elements(); ++i) y[i] = 2 * x[i];
//       }
//       void backward(const d5::abi::Call& call) { ... }  // optional, as is flop
//     };
//     D5_OPERATOR(Twice<float>, Twice<double>)
//
// A single class suffices for a single element type; the gradient check then uses that type's
// precision.
//
// A class that needs its node's attributes has a constructor from `const d5::abi::Node&`. It throws
// `d5::abi::Refusal` for unsupported nodes. `double flop(const d5::abi::Inputs&) const` returns the
// additions and multiplications of a forward run.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "d5/abi.h"

namespace d5::abi {

/// Thrown by an operator to refuse its input; becomes d5's error for the status, with the message.
class Refusal : public std::exception {
 public:
  Refusal(d5_status status, std::string message) : status_(status), message_(std::move(message)) {}
  [[nodiscard]] d5_status status() const { return status_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  d5_status status_;
  std::string message_;
};

/// ONNX's number of an element type.
template <class T>
inline constexpr std::int32_t kNumber = 0;
template <>
inline constexpr std::int32_t kNumber<float> = D5_FLOAT32;
template <>
inline constexpr std::int32_t kNumber<double> = D5_FLOAT64;
template <>
inline constexpr std::int32_t kNumber<std::int8_t> = D5_INT8;
template <>
inline constexpr std::int32_t kNumber<std::uint8_t> = D5_UINT8;
template <>
inline constexpr std::int32_t kNumber<std::int32_t> = D5_INT32;
template <>
inline constexpr std::int32_t kNumber<std::int64_t> = D5_INT64;
template <>
inline constexpr std::int32_t kNumber<bool> = D5_BOOL;

using Dims = std::vector<std::int64_t>;

/// A view of a dense row-major array of d5, valid during a call.
template <class T>
class Array {
 public:
  Array(const d5_tensor& tensor, const char* what, std::size_t place) : tensor_(&tensor) {
    if (!tensor.data || tensor.dtype == kNumber<std::remove_const_t<T>>) return;
    throw Refusal(D5_TYPE_ERROR, std::string(what) + " " + std::to_string(place) +
                                     " has elements of type " + std::to_string(tensor.dtype) +
                                     ", expected " +
                                     std::to_string(kNumber<std::remove_const_t<T>>) +
                                     " (ONNX's numbers); compile the operator for that type");
  }

  /// False for an omitted input, or a gradient that is not needed.
  explicit operator bool() const { return tensor_->data != nullptr; }
  [[nodiscard]] T* data() const { return static_cast<T*>(tensor_->data); }
  [[nodiscard]] T& operator[](std::int64_t i) const { return data()[i]; }
  [[nodiscard]] std::int64_t dim(int i) const { return tensor_->dims[i]; }
  [[nodiscard]] int rank() const { return tensor_->rank; }
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t product = 1;
    for (int i = 0; i < tensor_->rank; ++i) product *= tensor_->dims[i];
    return product;
  }

 private:
  const d5_tensor* tensor_;
};

/// The node of an operator.
class Node {
 public:
  explicit Node(const d5_node& node) : node_(&node) {}

  /// Attributes by name, with a default. Throws: Refusal for an attribute of another type.
  [[nodiscard]] std::int64_t integer(const char* name, std::int64_t otherwise) const {
    const auto* found = attribute(name, D5_ATTRIBUTE_INT);
    return found ? found->integers[0] : otherwise;
  }
  [[nodiscard]] double real(const char* name, double otherwise) const {
    const auto* found = find(name);
    if (found && found->kind == D5_ATTRIBUTE_INT) return double(found->integers[0]);
    found = attribute(name, D5_ATTRIBUTE_FLOAT);
    return found ? double(found->floats[0]) : otherwise;
  }
  [[nodiscard]] std::string text(const char* name, std::string otherwise) const {
    const auto* found = attribute(name, D5_ATTRIBUTE_STRING);
    return found ? found->strings[0] : std::move(otherwise);
  }
  [[nodiscard]] Dims integers(const char* name, Dims otherwise) const {
    const auto* found = attribute(name, D5_ATTRIBUTE_INTS);
    return found ? Dims(found->integers, found->integers + found->count) : std::move(otherwise);
  }
  [[nodiscard]] const d5_node& raw() const { return *node_; }

 private:
  [[nodiscard]] const d5_attribute* find(std::string_view name) const {
    for (std::size_t i = 0; i < node_->attribute_count; ++i) {
      if (name == node_->attributes[i].name) return &node_->attributes[i];
    }
    return nullptr;
  }
  [[nodiscard]] const d5_attribute* attribute(const char* name, int kind) const {
    const auto* found = find(name);
    if (!found || found->kind == kind) return found;
    throw Refusal(D5_TYPE_ERROR, std::string("its attribute ") + name + " is of another type");
  }

  const d5_node* node_;
};

/// The inputs, as known to `infer` and `flop`.
class Inputs {
 public:
  Inputs(const d5_tensor* tensors, std::size_t count) : tensors_(tensors), count_(count) {}

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool has(std::size_t i) const { return i < count_ && tensors_[i].dtype != 0; }
  /// The shape of input `i`. Throws: Refusal if it is omitted or its elements are not T.
  template <class T>
  [[nodiscard]] Dims dims(std::size_t i) const {
    if (!has(i)) throw Refusal(D5_SHAPE_ERROR, "input " + std::to_string(i) + " is left out");
    if (tensors_[i].dtype != kNumber<T>) {
      throw Refusal(D5_TYPE_ERROR, "input " + std::to_string(i) + " has elements of type " +
                                       std::to_string(tensors_[i].dtype) + ", expected " +
                                       std::to_string(kNumber<T>) + " (ONNX's numbers)");
    }
    return Dims(tensors_[i].dims, tensors_[i].dims + tensors_[i].rank);
  }
  /// Elements of an input, if they are known before running; otherwise false.
  template <class T>
  [[nodiscard]] Array<const T> constant(std::size_t i) const {
    return Array<const T>(tensors_[i], "input", i);
  }

 private:
  const d5_tensor* tensors_;
  std::size_t count_;
};

/// Description of an output.
struct Desc {
  std::int32_t type;
  Dims dims;
};
template <class T>
[[nodiscard]] Desc desc_of(Dims dims) {
  return {kNumber<T>, std::move(dims)};
}

/// A run, forward or backward.
class Call {
 public:
  explicit Call(const d5_call& call) : call_(&call) {}

  template <class T>
  [[nodiscard]] Array<T> input(std::size_t i) const {
    return Array<T>(call_->inputs[i], "input", i);
  }
  template <class T>
  [[nodiscard]] Array<T> output(std::size_t i) const {
    return Array<T>(call_->outputs[i], "output", i);
  }
  /// Backward: false if the gradient is zero.
  template <class T>
  [[nodiscard]] Array<T> grad_output(std::size_t i) const {
    return Array<T>(call_->grad_outputs[i], "output gradient", i);
  }
  /// Backward: to be overwritten; false if not needed.
  template <class T>
  [[nodiscard]] Array<T> grad_input(std::size_t i) const {
    return Array<T>(call_->grad_inputs[i], "input gradient", i);
  }
  [[nodiscard]] const d5_call& raw() const { return *call_; }

 private:
  const d5_call* call_;
};

namespace detail {

inline d5_status refused(d5_error* error, d5_status status, const char* message) {
  std::snprintf(error->message, sizeof error->message, "%s", message);
  return status;
}

/// Converts exceptions of a call to the C interface's errors.
template <class F>
d5_status guarded(d5_error* error, const F& call) {
  try {
    call();
    return D5_OK;
  } catch (const Refusal& refusal) {
    return refused(error, refusal.status(), refusal.what());
  } catch (const std::exception& other) {
    return refused(error, D5_OTHER_ERROR, other.what());
  }
}

template <class A, class B>
inline constexpr bool kSameName =
    std::string_view(A::kName) == B::kName && std::string_view(A::kDomain) == B::kDomain;

/// The classes of `Ops` with the name of `Op`, for different element types.
template <class Op, class... Ops>
using Namesakes = decltype(std::tuple_cat(
    std::conditional_t<kSameName<Op, Ops>, std::tuple<std::unique_ptr<Ops>>, std::tuple<>>{}...));

/// An operator implemented by one class per element type. Each node runs the first class whose
/// `infer` accepts the types of its inputs.
template <class Op, class... Ops>
class Table {
  using Classes = Namesakes<Op, Ops...>;
  struct Self {
    Classes classes;
    int chosen = -1;                   ///< index of the last run's class; -1: none yet
    std::vector<std::int32_t> dtypes;  ///< input types of that choice
  };

  /// Calls `f` with the class of index `chosen`.
  template <class F>
  static void with(const Classes& classes, int chosen, const F& f) {
    int place = 0;
    std::apply([&](const auto&... each) { ((place++ == chosen ? f(*each) : void()), ...); },
               classes);
  }
  /// Calls `f` with each class in turn, until one accepts the types; returns its index. Throws:
  /// Refusal with the messages of all classes.
  template <class F>
  static int first(const Classes& classes, const F& f) {
    std::string refusals;
    for (int place = 0; place < int(std::tuple_size_v<Classes>); ++place) {
      try {
        with(classes, place, f);
        return place;
      } catch (const Refusal& refusal) {
        if (refusal.status() != D5_TYPE_ERROR) throw;
        refusals += (refusals.empty() ? "" : "; ") + std::string(refusal.what());
      }
    }
    throw Refusal(D5_TYPE_ERROR, refusals);
  }
  static int choose(Self& self, const d5_call* call) {
    std::vector<std::int32_t> dtypes;
    for (std::size_t i = 0; i < call->input_count; ++i) dtypes.push_back(call->inputs[i].dtype);
    if (std::tuple_size_v<Classes> == 1) return 0;
    if (self.chosen < 0 || self.dtypes != dtypes) {
      self.chosen = first(self.classes, [&](const auto& op) {
        (void)op.infer(Inputs(call->inputs, call->input_count));
      });
      self.dtypes = std::move(dtypes);
    }
    return self.chosen;
  }

  static d5_status create(const d5_node* node, void** self, d5_error* error) {
    return guarded(error, [&] {
      auto made = std::make_unique<Self>();
      std::apply([&](auto&... each) { (make(each, *node), ...); }, made->classes);
      *self = made.release();
    });
  }
  template <class One>
  static void make(std::unique_ptr<One>& op, const d5_node& node) {
    if constexpr (std::is_constructible_v<One, const Node&>) {
      op = std::make_unique<One>(Node(node));
    } else {
      op = std::make_unique<One>();
    }
  }
  static void destroy(void* self) { delete static_cast<Self*>(self); }
  static d5_status infer(const void* self, const d5_tensor* inputs, std::size_t input_count,
                         d5_tensor_desc* outputs, std::size_t output_count, d5_error* error) {
    return guarded(error, [&] {
      std::vector<Desc> descs;
      (void)first(static_cast<const Self*>(self)->classes,
                  [&](const auto& op) { descs = op.infer(Inputs(inputs, input_count)); });
      if (descs.size() != output_count) {
        throw Refusal(D5_SHAPE_ERROR, "it has " + std::to_string(descs.size()) +
                                          " outputs, but the node " + std::to_string(output_count));
      }
      for (std::size_t k = 0; k < output_count; ++k) {
        const Dims& dims = descs[k].dims;
        if (dims.size() > D5_MOST_DIMS) throw Refusal(D5_SHAPE_ERROR, "too many dimensions");
        outputs[k].dtype = descs[k].type;
        outputs[k].rank = std::int32_t(dims.size());
        std::copy(dims.begin(), dims.end(), outputs[k].dims);
      }
    });
  }
  static d5_status flop(const void* self, const d5_tensor* inputs, std::size_t input_count,
                        double* flop, d5_error* error) {
    return guarded(error, [&] {
      *flop = 0;
      (void)first(static_cast<const Self*>(self)->classes, [&](const auto& op) {
        if constexpr (requires { op.flop(Inputs(inputs, input_count)); }) {
          *flop = op.flop(Inputs(inputs, input_count));
        }
      });
    });
  }
  static d5_status forward(void* self, const d5_call* call, d5_error* error) {
    return guarded(error, [&] {
      Self& own = *static_cast<Self*>(self);
      with(own.classes, choose(own, call), [&](auto& op) { op.forward(Call(*call)); });
    });
  }
  static d5_status backward(void* self, const d5_call* call, d5_error* error) {
    return guarded(error, [&] {
      Self& own = *static_cast<Self*>(self);
      with(own.classes, choose(own, call), [&](auto& op) {
        if constexpr (kHasBackward<std::remove_cvref_t<decltype(op)>>) {
          op.backward(Call(*call));
        } else {
          throw Refusal(D5_UNSUPPORTED, "it has no backward for these types");
        }
      });
    });
  }

  template <class One>
  static constexpr bool kHasBackward = requires(One& op, const Call& call) { op.backward(call); };
  static constexpr bool kAnyBackward = ((kSameName<Op, Ops> && kHasBackward<Ops>) || ...);

 public:
  static constexpr d5_operator kOperator = {
      .domain = Op::kDomain,
      .name = Op::kName,
      .since_version = 1,
      .until_version = 0,
      .device_kind = 0,
      .create = create,
      .destroy = destroy,
      .infer = infer,
      .flop = flop,
      .forward = forward,
      .backward = kAnyBackward ? backward : nullptr,
      .forward_cuda = nullptr,
      .backward_cuda = nullptr,
  };
};

/// One operator per name, in the order of their first classes.
template <class... Ops>
std::vector<d5_operator> operators_of() {
  std::vector<d5_operator> result;
  const auto add = [&](const d5_operator& one) {
    for (const d5_operator& other : result) {
      if (std::string_view(other.name) == one.name && std::string_view(other.domain) == one.domain)
        return;
    }
    result.push_back(one);
  };
  (add(Table<Ops, Ops...>::kOperator), ...);
  return result;
}

}  // namespace detail
}  // namespace d5::abi

/// Exports the classes as the library's operators. Classes of the same name and domain form one
/// operator, each for the element types that its `infer` accepts: D5_OPERATOR(Twice<float>,
/// Twice<double>).
#define D5_OPERATOR(...)                                                                           \
  const d5_operator_table* d5_custom_operators() {                                                 \
    static const auto operators = d5::abi::detail::operators_of<__VA_ARGS__>();                    \
    static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), operators.size(), \
                                            operators.data()};                                     \
    return &table;                                                                                 \
  }
