# Warnings of d5's own targets, linked privately.
add_library(d5_warnings INTERFACE)
target_compile_options(d5_warnings INTERFACE -Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual
                       $<$<BOOL:${D5_WERROR}>:-Werror>
                       # GCC 12 has false warnings about overlaps in std::string (GCC bug 105329).
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       # Clang warns about a call within libstdc++ 12's std::stable_sort (LLVM issue 76515).
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
