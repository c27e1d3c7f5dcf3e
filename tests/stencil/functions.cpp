#include "functions.hpp"

BANDMILL_TEST_FUNCTIONS(Host)
