#!/usr/bin/env bash
# Installs bandmill into a temporary folder, moves it, and uses it from there: through find_package, through
# pkg-config, and by the installed program. --static does so with a static, CPU-only build of its own, which adds an
# equation by the options of docs/equations.md.
# From CMake come SOURCE_DIR, BUILD_DIR, DOWNSTREAM_DIR, CMAKE and CXX.
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

if [ ${#static[@]} -gt 0 ]; then
    echo "--- the added equation is in the list"
    printf '%s\n' '#include <bandmill/bandmill.hpp>' 'bandmill::Equation equation = bandmill::AllenCahn{};' |
        "$CXX" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" -x c++ -
fi

echo "--- find_package"
"$CMAKE" -S "$DOWNSTREAM_DIR" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$CXX"
"$CMAKE" --build "$work/cmake"
"$work/cmake/main"

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
    command=$(grep -m 1 '^g++ .*pkg-config' "$SOURCE_DIR/README.md")
    command=${command/#g++/\"\$CXX\"}
    command=${command/pkg-config/pkg-config ${static[*]}}
    export CXX PKG_CONFIG_PATH="$library/pkgconfig"
    (cd "$work/pkg-config" && bash -e -c "$command" && LD_LIBRARY_PATH=$library ./main)
else
    echo "pkg-config is not here: not tried"
fi

if [ -x "$prefix/bin/bandmill" ]; then
    echo "--- the installed program finds its library"
    "$prefix/bin/bandmill" --version
fi
