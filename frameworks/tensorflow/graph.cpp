// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "d5/core/errors/error.hpp"
#include "tensor_view.hpp"

namespace d5::tensorflow {
namespace {

void set(TF_OperationDescription* operation, const Attribute& attribute) {
  const char* name = attribute.name;
  const auto& value = attribute.value;
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    TF_SetAttrInt(operation, name, *number);
  } else if (const auto* real = std::get_if<float>(&value)) {
    TF_SetAttrFloat(operation, name, *real);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    TF_SetAttrBool(operation, name, *flag ? 1 : 0);
  } else if (const auto* dtype = std::get_if<DType>(&value)) {
    TF_SetAttrType(operation, name, data_type(*dtype));
  } else if (const auto* text = std::get_if<const char*>(&value)) {
    TF_SetAttrString(operation, name, *text, std::strlen(*text));
  } else if (const auto* shape = std::get_if<Shape>(&value)) {
    TF_SetAttrShape(operation, name, shape->dims().data(), int(shape->rank()));
  } else {
    const auto& list = std::get<Sizes>(value);
    TF_SetAttrIntList(operation, name, list.data(), int(list.size()));
  }
}

/// All operations that `terms` depend on, including their own.
std::set<TF_Operation*> operations_before(const Terms& terms) {
  std::set<TF_Operation*> found;
  std::vector<TF_Operation*> open;
  for (const Term term : terms) open.push_back(term.oper);
  while (!open.empty()) {
    TF_Operation* const operation = open.back();
    open.pop_back();
    if (!found.insert(operation).second) continue;
    for (int i = 0; i < TF_OperationNumInputs(operation); ++i) {
      open.push_back(TF_OperationInput({operation, i}).oper);
    }
  }
  return found;
}

/// 0, rank - 1, 1, 2, ...: the inverse of `channels_last_order`.
Sizes channels_to_front(std::size_t rank) {
  Sizes permutation = {0, std::int64_t(rank) - 1};
  for (std::size_t i = 1; i + 1 < rank; ++i) permutation.push_back(std::int64_t(i));
  return permutation;
}

}  // namespace

Term Graph::finish(TF_OperationDescription* operation) {
  TF_Operation* const finished = TF_FinishOperation(operation, status_);
  status_.expect_supported(who_);
  return {finished, 0};
}

Term Graph::placeholder(const TensorDesc& desc) {
  auto* operation = TF_NewOperation(get(), "Placeholder", next_name().c_str());
  TF_SetAttrType(operation, "dtype", data_type(desc.dtype));
  TF_SetAttrShape(operation, "shape", desc.shape.dims().data(), int(desc.shape.rank()));
  return finish(operation);
}

Term Graph::add(const char* type, std::initializer_list<Argument> inputs,
                std::initializer_list<Attribute> attributes) {
  auto* operation = TF_NewOperation(get(), type, next_name().c_str());
  for (const Argument& input : inputs) {
    if (input.is_list()) {
      TF_AddInputList(operation, input.terms().data(), int(input.terms().size()));
    } else {
      TF_AddInput(operation, input.terms().front());
    }
  }
  for (const Attribute& attribute : attributes) set(operation, attribute);
  return finish(operation);
}

Term Graph::constant(const Tensor& value) {
  auto* operation = TF_NewOperation(get(), "Const", next_name().c_str());
  TF_SetAttrType(operation, "dtype", data_type(value.dtype()));
  TF_SetAttrTensor(operation, "value", copied(value).get(), status_);
  status_.expect_supported(who_);
  return finish(operation);
}

Term Graph::integers(const Sizes& values) {
  std::vector<std::int32_t> narrow;
  for (const std::int64_t value : values) {
    if (value != std::int32_t(value)) {
      throw Unsupported(who_ + ": TensorFlow takes no size of more than 32 bits here, got " +
                        std::to_string(value));
    }
    narrow.push_back(std::int32_t(value));
  }
  return constant(Tensor::vector(narrow));
}

Term Graph::integer(std::int64_t value) { return reshaped(integers({value}), {}); }

Term Graph::number(double value, DType dtype) {
  return cast(constant(Tensor::scalar(value)), dtype);
}

Term Graph::reshaped(Term x, const Shape& shape) {
  return add("Reshape", {x, constant(Tensor::vector(Sizes(shape.begin(), shape.end())))});
}

Term Graph::transposed(Term x, const Sizes& permutation) {
  return add("Transpose", {x, integers(permutation)});
}

Term Graph::cast(Term x, DType dtype) {
  return this->dtype(x) == dtype ? x : add("Cast", {x}, {{"DstT", dtype}});
}

Term Graph::ones_within(Term places, std::int64_t size, DType dtype) {
  const Term ones = add("Fill", {integers({size}), number(1, dtype)});
  return add("GatherV2", {ones, places, integer(0)});
}

Term Graph::reordered(Term x, DimensionOrder order) {
  const Term y = transposed(x, order.dimensions);
  reordered_[{x.oper, x.index}] = {y, std::move(order)};
  return y;
}

const Graph::Reordered* Graph::reordered(Term x) const {
  const auto place = reordered_.find({x.oper, x.index});
  const bool read_so_alone = place != reordered_.end() && TF_OperationOutputNumConsumers(x) == 1;
  return read_so_alone ? &place->second : nullptr;
}

Term Graph::channels_last(Term x) {
  auto [place, fresh] = channels_last_.try_emplace({x.oper, x.index});
  if (fresh) {
    const std::size_t rank = shape(x).rank();
    place->second = rank > 2 ? transposed(x, channels_last_order(rank).dimensions) : x;
  }
  return place->second;
}

Term Graph::channels_first(Term x) {
  const std::size_t rank = shape(x).rank();
  if (rank <= 2) return x;
  const Term y = transposed(x, channels_to_front(rank));
  channels_last_[{y.oper, y.index}] = x;
  return y;
}

Term Graph::elementwise(const char* type, const Terms& inputs,
                        std::initializer_list<Attribute> attributes) {
  const auto call = [&](const Terms& x) {
    return x.size() == 1 ? add(type, {x[0]}, attributes) : add(type, {x[0], x[1]}, attributes);
  };
  const auto size = [&](Term x) {
    const Shape own = shape(x);
    return std::pair(own.is_static() ? own.elements() : 0, has_channels_last(x));
  };
  const auto largest = std::ranges::max_element(inputs, {}, size);
  if (!has_channels_last(*largest)) return call(inputs);
  const std::size_t rank = shape(*largest).rank();
  Terms last;
  for (const Term input : inputs) {
    const std::size_t own = shape(input).rank();
    if (own != rank && own != 0) return call(inputs);
    last.push_back(own == 0 ? input : channels_last(input));
  }
  return channels_first(call(last));
}

DType Graph::dtype(Term term) const { return dtype_of_data(TF_OperationOutputType(term)); }

Shape Graph::shape(Term term) const {
  const int rank = TF_GraphGetTensorNumDims(get(), term, status_);
  status_.expect_ok(who_);
  if (rank < 0) return {kUnknownDim};
  Sizes dims(std::size_t(rank), 0);
  TF_GraphGetTensorShape(get(), term, dims.data(), rank, status_);
  status_.expect_ok(who_);
  return Shape(std::move(dims));
}

Terms Graph::gradients(Terms ys, const Terms& xs, Terms slopes) {
  // TensorFlow rejects an x that no y depends on.
  const std::set<TF_Operation*> before = operations_before(ys);
  Terms result(xs.size()), leading;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!before.contains(xs[i].oper)) continue;
    leading.push_back(xs[i]);
    places.push_back(i);
  }
  if (leading.empty()) return result;
  Terms gradients(leading.size());
  TF_AddGradientsWithPrefix(get(), next_name().c_str(), ys.data(), int(ys.size()), leading.data(),
                            int(leading.size()), slopes.data(), status_, gradients.data());
  status_.expect_supported(who_);
  for (std::size_t i = 0; i < places.size(); ++i) result[places[i]] = gradients[i];
  return result;
}

}  // namespace d5::tensorflow
