// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "d5/level0_ops/operator/grad_context.hpp"
#include "d5/level0_ops/operator/op_context.hpp"
#include "memory_desc.hpp"

namespace d5::onednn {

/// A value that a primitive reads or writes: the location of its memory in each run, and its
/// layout.
struct Argument {
  enum class Place : std::uint8_t { input, output, saved, grad_output, grad_input, scratch };
  Place place;
  std::size_t index;  ///< index of the value; for scratch, the offset in bytes
  Desc desc;

  /// The same memory, described otherwise.
  [[nodiscard]] Argument as(Desc other) const { return {place, index, std::move(other)}; }
};

/// Primitives of a kernel in one direction, made while planning. A run binds memory and executes
/// them; d5 allocates nothing.
///
///     pass.add(dnnl::eltwise_forward::primitive_desc(...), {{DNNL_ARG_SRC, input(0)}},
///              {{DNNL_ARG_DST, output(0)}});
class Pass {
 public:
  struct Bound {
    int name;  ///< DNNL_ARG_SRC, ...
    Argument argument;
  };
  Pass();

  /// Adds a primitive. Arguments are reordered into scratch memory before it if their layout
  /// differs from the required one; results are reordered after it.
  void add(const dnnl::primitive_desc_base& desc, const std::vector<Bound>& reads,
           const std::vector<Bound>& writes);
  /// Reorders elements between layouts or types.
  void reorder(const Argument& from, const Argument& to);
  /// Scratch memory of the pass.
  [[nodiscard]] Argument scratch(const Desc& desc);
  [[nodiscard]] std::size_t scratch_bytes() const;

  /// Throws: MemoryError, ContractError with oneDNN's message.
  void run(const OpContext& context) { run_all(context); }
  void run(const GradContext& context) { run_all(context); }

 private:
  struct Call {
    dnnl::primitive primitive;
    std::vector<Argument> arguments;
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> bound;  ///< `memories` with the arguments' names
    bool uses_scratchpad = false;        ///< the last memory; it lies behind all other scratch
  };
  template <class Context>
  void run_all(const Context& context);
  template <class Context>
  void bind(Call& call, const Context& context) const;
  void execute(const Call& call) const;
  void push(const dnnl::primitive_desc_base& desc, const std::vector<Bound>& arguments);

  std::vector<Call> calls_;
  std::size_t kept_bytes_ = 0;        ///< scratch that lives through the pass
  std::size_t scratchpad_bytes_ = 0;  ///< the largest that a primitive needs while it runs
  int threads_;                       ///< primitives are made for so many
};

}  // namespace d5::onednn
