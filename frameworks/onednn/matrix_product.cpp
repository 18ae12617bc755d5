// SPDX-License-Identifier: Apache-2.0
#include "matrix_product.hpp"

#include <algorithm>

#include "engine.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

dnnl::post_ops scaled_by(float factor) {
  dnnl::post_ops result;
  if (factor != 1) result.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0);
  return result;
}

/// `dims` with ones in front.
Desc matrices(Dims dims, std::size_t rank, DType dtype) {
  dims.insert(dims.begin(), rank - dims.size(), 1);
  return rows(dims, data_type(dtype));
}

}  // namespace

ProductDescs::ProductDescs(const TensorDesc& a_desc, const TensorDesc& b_desc,
                           const TensorDesc& y_desc) {
  Dims left = dims_of(a_desc.shape), right = dims_of(b_desc.shape);
  if (left.size() == 1) left.insert(left.begin(), 1);
  if (right.size() == 1) right.push_back(1);
  const std::size_t rank = std::max(left.size(), right.size());
  a = matrices(left, rank, a_desc.dtype);
  b = matrices(right, rank, b_desc.dtype);
  Dims result = a.get_dims();
  for (std::size_t i = 0; i + 2 < rank; ++i) result[i] = std::max(result[i], b.get_dims()[i]);
  result[rank - 1] = right.back();
  y = rows(result, data_type(y_desc.dtype));
}

Argument turned(const Argument& matrices) { return matrices.as(transposed(matrices.desc)); }

Desc preferred_weights(const Desc& a, const Desc& b, const Desc& y,
                       const dnnl::post_ops& post_ops) {
  return dnnl::matmul::primitive_desc(engine(), a, any(b), y, attributes(post_ops)).weights_desc();
}

void add_sum_to(Pass& pass, const Argument& x, const Argument& y, float factor) {
  if (x.desc.get_dims() == y.desc.get_dims()) {
    const auto linear = dnnl::algorithm::eltwise_linear;
    pass.add(dnnl::eltwise_forward::primitive_desc(engine(), dnnl::prop_kind::forward_inference,
                                                   linear, x.desc, y.desc, factor, 0, attributes()),
             {{DNNL_ARG_SRC, x}}, {{DNNL_ARG_DST, y}});
    return;
  }
  pass.add(dnnl::reduction::primitive_desc(engine(), dnnl::algorithm::reduction_sum, x.desc, y.desc,
                                           0, 0, attributes(scaled_by(factor))),
           {{DNNL_ARG_SRC, x}}, {{DNNL_ARG_DST, y}});
}

void add_product(Pass& pass, const Argument& a, const Argument& b, const Argument& y,
                 const dnnl::post_ops& post_ops, const std::vector<Pass::Bound>& extras) {
  const Dims left = a.desc.get_dims(), right = b.desc.get_dims();
  Dims whole = y.desc.get_dims();
  for (std::size_t i = 0; i + 2 < whole.size(); ++i) whole[i] = std::max(left[i], right[i]);
  const bool sums = whole != y.desc.get_dims();
  const Argument target = sums ? pass.scratch(rows(whole, y.desc.get_data_type())) : y;
  std::vector<Pass::Bound> reads = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}};
  reads.insert(reads.end(), extras.begin(), extras.end());
  pass.add(
      dnnl::matmul::primitive_desc(engine(), a.desc, b.desc, target.desc, attributes(post_ops)),
      reads, {{DNNL_ARG_DST, target}});
  if (sums) add_sum_to(pass, target, y);
}

}  // namespace d5::onednn
