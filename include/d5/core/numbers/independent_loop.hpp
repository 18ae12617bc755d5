// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Stands before a loop whose iterations share no element, so that the compiler needs no proof to
/// vectorise it. clang checks for overlaps at run time and has no such pragma.
#ifdef __clang__
#define D5_INDEPENDENT_LOOP
#else
#define D5_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif
