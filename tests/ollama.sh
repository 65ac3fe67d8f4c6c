#!/usr/bin/env bash
# Build a real Ollama from packages, once for a folder, and print the path of the program. It takes minutes of one
# processor. Go's archives leave out folders named "vendor", in which llama.cpp has three headers; two are packages of
# Debian, one is in another module. Where Go's modules cannot be had it ends with 3.
set -euo pipefail
version=0.17.4 audio=github.com/gen2brain/malgo@v0.11.24
mkdir -p "$1"
cd "$1"
exec 9>ollama.lock
flock 9 # another may be building
if [ ! -x "ollama-$version" ]; then
  for needed in /usr/include/nlohmann/json.hpp /usr/include/stb/stb_image.h "$(command -v go || echo go)" "$(command -v g++ || echo g++)"; do
    [ -e "$needed" ] || { echo "$needed is not there (Debian: nlohmann-json3-dev, libstb-dev, g++; Go 1.24 or newer)" >&2; exit 1; }
  done
  mkdir -p ollama-build/include/miniaudio
  cd ollama-build
  printf 'module x\ngo 1.24\n' >go.mod
  found=$(go mod download -json "$audio") || exit 3
  go mod download "github.com/ollama/ollama@v$version" || exit 3
  cp -f "$(sed -n 's/^\t"Dir": "\(.*\)",$/\1/p' <<<"$found")/miniaudio.h" include/miniaudio/
  flags=-O1 # to optimise more takes longer than the tests run
  if grep -qs ' avx2 ' /proc/cpuinfo; then flags+=" -mavx2 -mfma -mf16c"; fi
  CGO_ENABLED=1 CGO_CFLAGS=$flags CGO_CXXFLAGS="$flags -I$PWD/include" GOBIN=$PWD GOFLAGS=-buildvcs=false \
    go install -p 2 -ldflags "-s -w -X github.com/ollama/ollama/version.Version=$version" \
    "github.com/ollama/ollama@v$version" >&2
  mv ollama "../ollama-$version"
  cd ..
  rm -rf ollama-build
fi
echo "$PWD/ollama-$version"
