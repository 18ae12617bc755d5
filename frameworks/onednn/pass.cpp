// SPDX-License-Identifier: Apache-2.0
#include "pass.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/tensor/arena.hpp"
#include "d5/core/trace/trace.hpp"
#include "engine.hpp"
#include "primitive_span.hpp"

namespace d5::onednn {
namespace {

using Place = Argument::Place;

void* address(const Argument& argument, const OpContext& context) {
  switch (argument.place) {
    case Place::input:
      return const_cast<void*>(context.input(argument.index).raw());
    case Place::output:
      return context.output(argument.index).raw();
    case Place::saved:
      return context.saved(argument.index).raw();
    case Place::scratch:
      return context.scratch().data() + argument.index;
    default:
      throw ContractError(context.who() + ": forward has no gradients");
  }
}

void* address(const Argument& argument, const GradContext& context) {
  switch (argument.place) {
    case Place::input:
      return const_cast<void*>(context.input(argument.index).raw());
    case Place::output:
      return const_cast<void*>(context.output(argument.index).raw());
    case Place::saved:
      return context.saved(argument.index).raw();
    case Place::grad_output:
      return const_cast<void*>(context.grad_output(argument.index).raw());
    case Place::grad_input:
      return context.grad_input(argument.index).raw();
    case Place::scratch:
      return context.scratch().data() + argument.index;
  }
  throw ContractError(context.who() + ": an argument has no place");
}

/// Descriptor that the primitive requires for an argument; scales and zero points are unchanged.
Desc wanted(const dnnl::primitive_desc_base& desc, const Pass::Bound& bound) {
  const Desc want = desc.query_md(dnnl::query::exec_arg_md, bound.name);
  return want.is_zero() ? bound.argument.desc : want;
}

}  // namespace

Pass::Pass() : threads_(threads()) { omp_set_num_threads(threads_); }

Argument Pass::scratch(const Desc& desc) {
  const std::size_t offset = kept_bytes_;
  kept_bytes_ += Arena::aligned(desc.get_size());
  return {Place::scratch, offset, desc};
}

std::size_t Pass::scratch_bytes() const { return kept_bytes_ + scratchpad_bytes_; }

void Pass::add(const dnnl::primitive_desc_base& desc, const std::vector<Bound>& reads,
               const std::vector<Bound>& writes) {
  std::vector<Bound> arguments;
  for (const Bound& read : reads) {
    const Desc want = wanted(desc, read);
    arguments.push_back(read);
    if (want == read.argument.desc) continue;
    arguments.back().argument = scratch(want);
    reorder(read.argument, arguments.back().argument);
  }
  std::vector<std::pair<Argument, Argument>> behind;
  for (const Bound& write : writes) {
    const Desc want = wanted(desc, write);
    arguments.push_back(write);
    if (want == write.argument.desc) continue;
    arguments.back().argument = scratch(want);
    behind.emplace_back(arguments.back().argument, write.argument);
  }
  push(desc, arguments);
  for (const auto& [from, to] : behind) reorder(from, to);
}

void Pass::reorder(const Argument& from, const Argument& to) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  push(dnnl::reorder::primitive_desc(engine(), from.desc, engine(), to.desc, attributes),
       {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void Pass::push(const dnnl::primitive_desc_base& desc, const std::vector<Bound>& arguments) {
  Call& call = calls_.emplace_back();
  call.primitive = dnnl::primitive(desc.get());
  const auto bind = [&](int name, const Argument& argument) {
    call.arguments.push_back(argument);
    call.memories.emplace_back(argument.desc, engine(), nullptr);
    call.bound.push_back({name, call.memories.back().get()});
  };
  for (const Bound& one : arguments) bind(one.name, one.argument);
  const Desc pad = desc.scratchpad_desc();
  call.uses_scratchpad = pad.get_size() > 0;
  if (!call.uses_scratchpad) return;
  scratchpad_bytes_ = std::max(scratchpad_bytes_, Arena::aligned(pad.get_size()));
  bind(DNNL_ARG_SCRATCHPAD, {Place::scratch, 0, pad});
}

template <class Context>
void Pass::bind(Call& call, const Context& context) const {
  const std::size_t values = call.memories.size() - (call.uses_scratchpad ? 1 : 0);
  for (std::size_t i = 0; i < values; ++i) {
    call.memories[i].set_data_handle(address(call.arguments[i], context));
  }
  if (call.uses_scratchpad) {
    call.memories.back().set_data_handle(context.scratch().data() + kept_bytes_);
  }
}

void Pass::execute(const Call& call) const {
  const dnnl_status_t status = dnnl_primitive_execute(call.primitive.get(), stream().get(),
                                                      int(call.bound.size()), call.bound.data());
  dnnl::error::wrap_c_api(status, "could not execute a primitive");
}

template <class Context>
void Pass::run_all(const Context& context) try {
  if (omp_get_max_threads() != threads_) omp_set_num_threads(threads_);
  for (Call& call : calls_) {
    bind(call, context);
    if (Trace::on()) [[unlikely]] {
      const PrimitiveSpan span(call.primitive, call.bound);
      execute(call);
    } else {
      execute(call);
    }
  }
} catch (const dnnl::error& error) {
  const std::string message = fmt::format("{}: oneDNN says: {}", context.who(), error.what());
  if (error.status == dnnl_out_of_memory) throw MemoryError(message);
  throw ContractError(message);
}

template void Pass::run_all(const OpContext& context);
template void Pass::run_all(const GradContext& context);

}  // namespace d5::onednn
