# cmake -D PROGRAM=backend_cpu -D HASH=solution_hash -D LEVEL=v2 -D FILTER=... -P at_level.cmake: runs tests at one
# instruction-set level, or says that they are skipped where the CPU lacks it.
execute_process(COMMAND ${HASH} ${LEVEL} OUTPUT_QUIET RESULT_VARIABLE code)
if(code EQUAL 77)
  message("SKIPPED: this CPU lacks level ${LEVEL}")
  return()
endif()
set(ENV{BANDMILL_ISA} ${LEVEL})
execute_process(COMMAND ${PROGRAM} --gtest_filter=${FILTER} --gtest_brief=1 RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the tests failed at level ${LEVEL}")
endif()
