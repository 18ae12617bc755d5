// SPDX-License-Identifier: Apache-2.0
#include "primitive_span.hpp"

#include <oneapi/dnnl/dnnl_debug.h>

#include <fmt/format.h>

#include <string>

#include "memory_desc.hpp"

namespace d5::onednn {
namespace {

std::string kind_of(const dnnl::primitive& primitive) {
  return dnnl_prim_kind2str(dnnl::convert_to_c(primitive.get_kind()));
}

/// "src", "weights 1", ...
std::string argument_name(int name) {
  const auto numbered = [](const char* word, int i) {
    return i == 0 ? std::string(word) : fmt::format("{} {}", word, i);
  };
  if (name >= DNNL_ARG_ATTR_MULTIPLE_POST_OP_BASE) return "post-op";
  if (name >= DNNL_ARG_MULTIPLE_DST) return numbered("dst", name - DNNL_ARG_MULTIPLE_DST);
  if (name >= DNNL_ARG_MULTIPLE_SRC) return numbered("src", name - DNNL_ARG_MULTIPLE_SRC);
  if (name >= DNNL_ARG_DIFF_BIAS) return "diff_bias";
  if (name >= DNNL_ARG_DIFF_WEIGHTS_0)
    return numbered("diff_weights", name - DNNL_ARG_DIFF_WEIGHTS_0);
  if (name >= DNNL_ARG_DIFF_DST_0) return numbered("diff_dst", name - DNNL_ARG_DIFF_DST_0);
  if (name >= DNNL_ARG_DIFF_SRC_0) return numbered("diff_src", name - DNNL_ARG_DIFF_SRC_0);
  switch (name) {
    case DNNL_ARG_SCRATCHPAD:
      return "scratchpad";
    case DNNL_ARG_WORKSPACE:
      return "workspace";
    case DNNL_ARG_BIAS:
      return "bias";
    case DNNL_ARG_MEAN:
      return "mean";
    case DNNL_ARG_VARIANCE:
      return "variance";
    default:
      break;
  }
  if (name >= DNNL_ARG_WEIGHTS_0) return numbered("weights", name - DNNL_ARG_WEIGHTS_0);
  if (name >= DNNL_ARG_DST_0) return numbered("dst", name - DNNL_ARG_DST_0);
  return numbered("src", name - DNNL_ARG_SRC_0);
}

/// "f32 aBcd16b 1x64x56x56"
std::string described(const Desc& desc) {
  return fmt::format("{} {} {}", dnnl_dt2str(dnnl::memory::convert_to_c(desc.get_data_type())),
                     layout_name(desc), shape_name(desc));
}

Desc desc_of(const dnnl_exec_arg_t& argument) {
  const_dnnl_memory_desc_t desc = nullptr;
  dnnl_memory_desc_t copy = nullptr;
  dnnl::error::wrap_c_api(dnnl_memory_get_memory_desc(argument.memory, &desc), "no descriptor");
  dnnl::error::wrap_c_api(dnnl_memory_desc_clone(&copy, desc), "no copy of a descriptor");
  return Desc(copy);
}

std::string implementation_of(const dnnl::primitive& primitive) {
  const char* name = nullptr;
  dnnl::error::wrap_c_api(
      dnnl_primitive_desc_query(primitive.get_primitive_desc(), dnnl_query_impl_info_str, 0, &name),
      "an implementation has no name");
  return name;
}

}  // namespace

PrimitiveSpan::PrimitiveSpan(const dnnl::primitive& primitive,
                             std::span<const dnnl_exec_arg_t> arguments)
    : span_("primitive", [&] { return kind_of(primitive); }) {
  span_.argument("implementation", implementation_of(primitive));
  for (const dnnl_exec_arg_t& argument : arguments) {
    span_.argument(argument_name(argument.arg), described(desc_of(argument)));
  }
}

}  // namespace d5::onednn
