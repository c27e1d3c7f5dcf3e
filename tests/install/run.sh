#!/usr/bin/env bash
# Installs bandmill into a temporary folder, moves it, and uses it from there: through find_package, through
# pkg-config, and by the installed program. --static does so with a static, CPU-only build of its own, which adds an
# equation by the options of docs/equations.md.
# From CMake come SOURCE_DIR, BUILD_DIR, DOWNSTREAM_DIR, CMAKE, CXX, CC and, with the Fortran modules, FC.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH

static=()
if [ "${1-}" = --static ]; then
    static=(--static)
    cd "$SOURCE_DIR" # the path of the header is relative
    read -ra equation < <(grep -m 1 '^cmake .*BANDMILL_MORE_EQUATIONS' docs/equations.md | grep -o -- '-D.*')
    "$CMAKE" -S "$SOURCE_DIR" -B "$work/static" -G Ninja -DBUILD_SHARED_LIBS=OFF -DBANDMILL_CUDA=OFF \
        -DBANDMILL_BUILD_TESTS=OFF -DBANDMILL_BUILD_EXAMPLES=OFF -DBANDMILL_BUILD_APP=OFF \
        "${equation[@]}"
    "$CMAKE" --build "$work/static" --parallel 2
    BUILD_DIR=$work/static
fi

echo "--- install, then move"
"$CMAKE" --install "$BUILD_DIR" --prefix "$work/installed" >/dev/null
prefix="$work/moved"
mv "$work/installed" "$prefix"
(cd "$prefix" && find . -not -type d | sort)
library=$(dirname "$(find "$prefix" -name 'libbandmill.*' | head -n 1)")

echo "--- every public header compiles alone"
(cd "$prefix/include" && find . -name '*.hpp') | while read -r header; do
    echo "#include \"${header#./}\"" | "$CXX" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" -x c++ -
done

echo "--- and so does the C header, as C and as C++"
for language in "c -std=c99 -Wstrict-prototypes" "c++ -std=c++20"; do
    # shellcheck disable=SC2086 # a language and its options
    echo '#include <bandmill/c/bandmill.h>' |
        "$CC" -x $language -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$prefix/include" -
done

if [ ${#static[@]} -gt 0 ]; then
    echo "--- the added equation is in the list"
    printf '%s\n' '#include <bandmill/bandmill.hpp>' 'bandmill::Equation equation = bandmill::AllenCahn{};' |
        "$CXX" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" -x c++ -
fi

echo "--- find_package"
"$CMAKE" -S "$DOWNSTREAM_DIR" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$CXX"
"$CMAKE" --build "$work/cmake"
"$work/cmake/main"

if [ ${#static[@]} -gt 0 ]; then
    echo "--- a static library wants a project with C++"
    mkdir "$work/c"
    sed -n '/^```c$/,/^```$/{//!p;/^```$/q}' "$SOURCE_DIR/docs/c.md" >"$work/c/main.c"
    for languages in C "C CXX"; do
        printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' "project(downstream LANGUAGES $languages)" \
            'find_package(bandmill 0.1 REQUIRED)' 'add_executable(main main.c)' \
            'target_link_libraries(main PRIVATE bandmill::bandmill m)' >"$work/c/CMakeLists.txt"
        rm -rf "$work/c/build"
        if "$CMAKE" -S "$work/c" -B "$work/c/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/c/log" 2>&1; then
            [ "$languages" != C ]
            "$CMAKE" --build "$work/c/build"
            "$work/c/build/main"
        else
            [ "$languages" = C ]
            grep "add CXX to" "$work/c/log"
        fi
    done
fi

if [ -n "${FC-}" ] && [ ${#static[@]} -eq 0 ]; then
    echo "--- find_package from Fortran, by the text of docs/fortran.md"
    mkdir "$work/fortran"
    {
        printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(downstream LANGUAGES Fortran)'
        sed -n '/^```cmake$/,/^```$/{//!p}' "$SOURCE_DIR/docs/fortran.md"
    } >"$work/fortran/CMakeLists.txt"
    sed -n '/^```fortran$/,/^```$/{//!p;/^```$/q}' "$SOURCE_DIR/docs/fortran.md" >"$work/fortran/main.f90"
    "$CMAKE" -S "$work/fortran" -B "$work/fortran/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_Fortran_COMPILER="$FC"
    "$CMAKE" --build "$work/fortran/build"
    "$work/fortran/build/main"
fi

echo "--- find_package refuses another version"
mkdir "$work/other"
sed 's/find_package(bandmill [0-9.]*/find_package(bandmill 0.99/' "$DOWNSTREAM_DIR/CMakeLists.txt" >"$work/other/CMakeLists.txt"
cp "$DOWNSTREAM_DIR/main.cpp" "$work/other"
if "$CMAKE" -S "$work/other" -B "$work/refused" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/refused.log" 2>&1; then
    echo "version 0.99 was accepted"
    exit 1
fi
grep -q 'not compatible\|compatible with requested version' "$work/refused.log"

echo "--- pkg-config, by the command of README.md"
if command -v pkg-config >/dev/null; then
    mkdir "$work/pkg-config"
    cp "$DOWNSTREAM_DIR/main.cpp" "$work/pkg-config"
    export CXX CC FC PKG_CONFIG_PATH="$library/pkgconfig"
    # by_command PAGE COMPILER VARIABLE: compiles main.* by the page's own command, with the compiler of the variable.
    by_command() {
        local command
        command=$(grep -m 1 "^$2 .*pkg-config" "$SOURCE_DIR/$1")
        command=${command/#$2/\"\$$3\"}
        command=${command/pkg-config/pkg-config ${static[*]}}
        (cd "$work/pkg-config" && rm -f main && bash -e -c "$command" && LD_LIBRARY_PATH=$library ./main)
    }
    by_command README.md g++ CXX
    # The first block of a page is a whole program.
    first_block() { sed -n "/^\`\`\`$2\$/,/^\`\`\`\$/{//!p;/^\`\`\`\$/q}" "$SOURCE_DIR/docs/$1"; }
    first_block c.md c >"$work/pkg-config/main.c"
    echo "--- the same from C"
    by_command docs/c.md gcc CC
    if [ -n "${FC-}" ]; then
        echo "--- and from Fortran"
        first_block fortran.md fortran >"$work/pkg-config/main.f90"
        by_command docs/fortran.md gfortran FC
    fi
else
    echo "pkg-config is not here: not tried"
fi

if [ -x "$prefix/bin/bandmill" ]; then
    echo "--- the installed program finds its library"
    "$prefix/bin/bandmill" --version
fi
