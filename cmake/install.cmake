# `cmake --install`: the library, its public headers, find_package(bandmill), a .pc file, and the program.
# Everything installed finds its neighbours by relative paths, so the tree can be moved.
include(CMakePackageConfigHelpers)

set(bandmill_headers
  bandmill.hpp
  band/batch.hpp band/factor.hpp band/matrix.hpp band/solve.hpp
  base/arithmetic.hpp base/array.hpp base/error.hpp base/event.hpp base/field.hpp base/macros.hpp base/space.hpp
  c/bandmill.h
  cpu/isa.hpp
  ensemble/ensemble.hpp ensemble/initial_state.hpp ensemble/observable.hpp ensemble/stepper.hpp ensemble/sums.hpp
  pde/cahn_hilliard.hpp pde/diffusion.hpp pde/equation.hpp pde/equations.hpp pde/forced_cahn_hilliard.hpp pde/grid.hpp
  pde/hyperdiffusion.hpp pde/weno.hpp
  stencil/advect.hpp stencil/apply.hpp stencil/apply_function.cuh stencil/apply_function.hpp stencil/edges.hpp
  stencil/neighbourhood.hpp stencil/plane.hpp stencil/stencil.hpp stencil/tile.cuh)
foreach(header IN LISTS bandmill_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/src/bandmill/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bandmill/${folder})
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/include/bandmill/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bandmill)
install(FILES ${PROJECT_BINARY_DIR}/include/bandmill/pde/more_equations.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bandmill/pde)
if(BANDMILL_MORE_EQUATIONS_FILE)
  install(FILES ${BANDMILL_MORE_EQUATIONS_FILE} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bandmill/pde/more)
endif()

install(TARGETS bandmill EXPORT bandmillTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# A shared library keeps its dependencies to itself; a static one hands them on.
set(bandmill_dependencies "")
set(bandmill_private_libs "")
get_target_property(bandmill_type bandmill TYPE)
if(bandmill_type STREQUAL "STATIC_LIBRARY")
  string(APPEND bandmill_private_libs " -lstdc++ -lm") # for programs in C and Fortran
  string(APPEND bandmill_dependencies "if(NOT CMAKE_CXX_COMPILER_LOADED)
  set(bandmill_FOUND FALSE)
  set(bandmill_NOT_FOUND_MESSAGE \"this bandmill is a static library of C++ code, which has to be linked as such: \
add CXX to the languages of project()\")
  return()
endif()\n")
  if(BANDMILL_OPENMP)
    string(APPEND bandmill_dependencies "find_dependency(OpenMP COMPONENTS CXX)\n")
    string(APPEND bandmill_private_libs " -fopenmp")
  else()
    string(APPEND bandmill_dependencies "find_dependency(Threads)\n")
    string(APPEND bandmill_private_libs " -lpthread")
  endif()
  if(BANDMILL_HAVE_CUDA)
    string(APPEND bandmill_dependencies "find_dependency(CUDAToolkit)\n")
    list(GET CUDAToolkit_LIBRARY_DIR 0 cuda_library_dir)
    string(APPEND bandmill_private_libs " -L${cuda_library_dir} -lcudart_static -ldl -lrt")
  endif()
endif()

set(bandmill_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bandmill)
install(EXPORT bandmillTargets NAMESPACE bandmill:: DESTINATION ${bandmill_cmake_dir})
configure_package_config_file(cmake/bandmillConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/bandmillConfig.cmake
                              INSTALL_DESTINATION ${bandmill_cmake_dir}
                              NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/bandmillConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/bandmillConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/bandmillConfigVersion.cmake
        DESTINATION ${bandmill_cmake_dir})

# From the folder of the .pc file to the prefix, whatever the library folder is called (lib, lib64, lib/<triplet>).
file(RELATIVE_PATH bandmill_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(kind LIBDIR INCLUDEDIR)
  file(RELATIVE_PATH bandmill_pc_${kind} ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_${kind}})
endforeach()
configure_file(cmake/bandmill.pc.in ${PROJECT_BINARY_DIR}/cmake/bandmill.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/bandmill.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(BANDMILL_HAVE_FORTRAN)
  configure_file(cmake/bandmill-fortran.pc.in ${PROJECT_BINARY_DIR}/cmake/bandmill-fortran.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/bandmill-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(BANDMILL_BUILD_APP)
  file(RELATIVE_PATH bandmill_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(bandmill_app PROPERTIES INSTALL_RPATH "$ORIGIN/${bandmill_bin_to_lib}")
  install(TARGETS bandmill_app)
endif()
