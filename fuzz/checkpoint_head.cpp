// The head of a checkpoint: any bytes give a FileError or a head that is written as these bytes and no others.
// sources: src/bandmill/io/checkpoint_head.cpp
#include "bandmill/io/checkpoint.hpp"

#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace bandmill;
    // Most inputs would stop at the magic if the fuzzer had to find it.
    static const std::size_t magic_bytes = encode({}).size() - 6 * sizeof(std::int64_t);
    std::string bytes = encode({}).substr(0, magic_bytes);
    bytes.append(reinterpret_cast<const char*>(data), size);
    for (const std::string& input : {bytes, bytes.substr(magic_bytes)}) {
        try {
            const CheckpointHead head = decode(std::as_bytes(std::span(input)), std::int64_t(1) << 40);
            if (encode(head) != input) std::abort();
        } catch (const FileError&) {
        }
    }
    return 0;
}
