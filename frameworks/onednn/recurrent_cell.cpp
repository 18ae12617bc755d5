// SPDX-License-Identifier: Apache-2.0
// Uses oneDNN's C functions, which are the same for all cells and accept the flag to overwrite the
// gradients of weights.
#include "recurrent_cell.hpp"

#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

void expect(dnnl_status_t status) {
  dnnl::error::wrap_c_api(status, "could not create a descriptor for a recurrent primitive");
}

dnnl::primitive_desc_base owned(dnnl_primitive_desc_t desc) {
  dnnl::primitive_desc_base result;
  result.reset(desc);
  return result;
}

}  // namespace

std::int64_t Cell::gates() const { return kind == Kind::rnn ? 1 : kind == Kind::lstm ? 4 : 3; }
std::int64_t Cell::biases() const { return gates() + (kind == Kind::gru_reset_behind ? 1 : 0); }

dnnl::primitive_desc_base Cell::forward(dnnl_prop_kind_t prop_kind, const CellDescs& d) const {
  const dnnl::primitive_attr all = attributes();
  const auto flags = dnnl_rnn_flags_undef;
  const Desc none;
  dnnl_primitive_desc_t result = nullptr;
  const auto gru = kind == Kind::gru ? dnnl_gru_forward_primitive_desc_create
                                     : dnnl_lbr_gru_forward_primitive_desc_create;
  switch (kind) {
    case Kind::rnn:
      expect(dnnl_vanilla_rnn_forward_primitive_desc_create(
          &result, engine().get(), prop_kind, activation, direction, d.x.get(), d.h.get(),
          d.w.get(), d.r.get(), d.b.get(), d.y.get(), d.h_end.get(), flags, 0, 0, all.get()));
      break;
    case Kind::gru:
    case Kind::gru_reset_behind:
      expect(gru(&result, engine().get(), prop_kind, direction, d.x.get(), d.h.get(), d.w.get(),
                 d.r.get(), d.b.get(), d.y.get(), d.h_end.get(), flags, all.get()));
      break;
    case Kind::lstm:
      expect(dnnl_lstm_forward_primitive_desc_create(
          &result, engine().get(), prop_kind, direction, d.x.get(), d.h.get(), d.c.get(), d.w.get(),
          d.r.get(), none.get(), none.get(), d.b.get(), d.y.get(), d.h_end.get(), d.c_end.get(),
          flags, all.get()));
      break;
  }
  return owned(result);
}

dnnl::primitive_desc_base Cell::backward(const CellDescs& d,
                                         const dnnl::primitive_desc_base& forward) const {
  const dnnl::primitive_attr all = attributes();
  const auto flags = dnnl_rnn_flags_diff_weights_overwrite;
  const auto both = dnnl_backward;
  const Desc none;
  dnnl_primitive_desc_t result = nullptr;
  const auto gru = kind == Kind::gru ? dnnl_gru_backward_primitive_desc_create
                                     : dnnl_lbr_gru_backward_primitive_desc_create;
  switch (kind) {
    case Kind::rnn:
      expect(dnnl_vanilla_rnn_backward_primitive_desc_create(
          &result, engine().get(), both, activation, direction, d.x.get(), d.h.get(), d.w.get(),
          d.r.get(), d.b.get(), d.y.get(), d.h_end.get(), d.x.get(), d.h.get(), d.w.get(),
          d.r.get(), d.b.get(), d.y.get(), d.h_end.get(), flags, 0, 0, forward.get(), all.get()));
      break;
    case Kind::gru:
    case Kind::gru_reset_behind:
      expect(gru(&result, engine().get(), both, direction, d.x.get(), d.h.get(), d.w.get(),
                 d.r.get(), d.b.get(), d.y.get(), d.h_end.get(), d.x.get(), d.h.get(), d.w.get(),
                 d.r.get(), d.b.get(), d.y.get(), d.h_end.get(), flags, forward.get(), all.get()));
      break;
    case Kind::lstm:
      expect(dnnl_lstm_backward_primitive_desc_create(
          &result, engine().get(), both, direction, d.x.get(), d.h.get(), d.c.get(), d.w.get(),
          d.r.get(), none.get(), none.get(), d.b.get(), d.y.get(), d.h_end.get(), d.c_end.get(),
          d.x.get(), d.h.get(), d.c.get(), d.w.get(), d.r.get(), none.get(), none.get(), d.b.get(),
          d.y.get(), d.h_end.get(), d.c_end.get(), flags, forward.get(), all.get()));
      break;
  }
  return owned(result);
}

}  // namespace d5::onednn
