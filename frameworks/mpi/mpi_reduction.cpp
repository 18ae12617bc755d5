// SPDX-License-Identifier: Apache-2.0
#include "mpi_reduction.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/transport.hpp"

namespace d5::mpi {
namespace {

MPI_Op own_op(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return MPI_SUM;
    case Reduction::maximum:
      return MPI_MAX;
    case Reduction::minimum:
      return MPI_MIN;
  }
  return MPI_OP_NULL;
}

MPI_Datatype own_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return MPI_FLOAT;
    case DType::float64:
      return MPI_DOUBLE;
    case DType::int8:
      return MPI_INT8_T;
    case DType::int16:
      return MPI_INT16_T;
    case DType::int32:
      return MPI_INT32_T;
    case DType::int64:
      return MPI_INT64_T;
    case DType::uint8:
      return MPI_UINT8_T;
    case DType::uint16:
      return MPI_UINT16_T;
    case DType::uint32:
      return MPI_UINT32_T;
    case DType::uint64:
      return MPI_UINT64_T;
    default:
      throw Unsupported(
          fmt::format("MPI cannot reduce {}; cast to float32 before", name_of(dtype)));
  }
}

/// A 16-bit type as two bytes of one MPI element.
template <DType dtype, Reduction reduction>
MpiReduction small_float() {
  static const MpiReduction made = [] {
    MpiReduction result;
    MPI_Type_contiguous(2, MPI_BYTE, &result.type);
    MPI_Type_commit(&result.type);
    MPI_Op_create([](void* other, void* into, int* count,
                     MPI_Datatype*) { reduce_memory(dtype, into, other, *count, reduction); },
                  1, &result.op);
    return result;
  }();
  return made;
}

template <DType dtype>
MpiReduction small_float(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return small_float<dtype, Reduction::sum>();
    case Reduction::maximum:
      return small_float<dtype, Reduction::maximum>();
    case Reduction::minimum:
      return small_float<dtype, Reduction::minimum>();
  }
  return {MPI_DATATYPE_NULL, MPI_OP_NULL};
}

}  // namespace

MpiReduction mpi_reduction(DType dtype, Reduction reduction) {
  if (dtype == DType::float16) return small_float<DType::float16>(reduction);
  if (dtype == DType::bfloat16) return small_float<DType::bfloat16>(reduction);
  return {own_type(dtype), own_op(reduction)};
}

}  // namespace d5::mpi
