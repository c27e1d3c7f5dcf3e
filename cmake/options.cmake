# Compile options shared by our own targets; never exported to users.
add_library(bandmill_options INTERFACE)
# No contraction: where a fused multiply-add matters the code says so, and ISA levels then agree to the bit.
target_compile_options(bandmill_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -ffp-contract=off>
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -pedantic -Wstrict-prototypes>
  $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-std=f2018 -Wall -Wextra -pedantic>
  # CMake 3.25 ignores CMAKE_CUDA_STANDARD 20
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra>)
if(BANDMILL_WERROR)
  target_compile_options(bandmill_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>
                         $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-Werror>
                         $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
endif()
if(BANDMILL_SANITIZE)
  target_compile_options(bandmill_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${BANDMILL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(bandmill_options INTERFACE -fsanitize=${BANDMILL_SANITIZE})
endif()
