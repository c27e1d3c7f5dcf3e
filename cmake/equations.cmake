# Equations that a build adds to the library's own (docs/equations.md): a header of yours, and the types in it.
set(BANDMILL_MORE_EQUATIONS_FILE "" CACHE FILEPATH "A header with further equations")
set(BANDMILL_MORE_EQUATIONS "" CACHE STRING "Their types, separated by commas")

# bandmill_write_more_equations(FOLDER FILE TYPES): FOLDER/bandmill/pde/more_equations.hpp, which pde/equations.hpp
# includes, and beside it a copy of FILE, so that both can be installed. A header and not definitions on the command
# line: nvcc takes a comma there for the end of a definition, and pkg-config cannot pass quotes on.
function(bandmill_write_more_equations folder file types)
  set(bandmill_more_include "")
  set(bandmill_more_types "")
  if(file OR types)
    if(NOT file OR NOT types)
      message(FATAL_ERROR "BANDMILL_MORE_EQUATIONS_FILE is '${file}' and BANDMILL_MORE_EQUATIONS is '${types}': "
                          "give both, or neither")
    endif()
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "BANDMILL_MORE_EQUATIONS_FILE is '${file}', which does not exist: give the path of a header")
    endif()
    cmake_path(GET file FILENAME name)
    configure_file(${file} ${folder}/bandmill/pde/more/${name} COPYONLY)
    string(REPLACE ";" "," types "${types}")
    set(bandmill_more_include "#include \"bandmill/pde/more/${name}\"")
    set(bandmill_more_types "#define BANDMILL_MORE_EQUATIONS ${types}")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/src/bandmill/pde/more_equations.hpp.in
                 ${folder}/bandmill/pde/more_equations.hpp @ONLY)
endfunction()

bandmill_write_more_equations(${PROJECT_BINARY_DIR}/include "${BANDMILL_MORE_EQUATIONS_FILE}"
                              "${BANDMILL_MORE_EQUATIONS}")
