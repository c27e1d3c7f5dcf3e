// The instruction-set level the CPU backend runs at: chosen once, from what the CPU offers and the environment allows.
#pragma once

namespace bandmill {

// "v4" (AVX-512), "v3" (AVX2 and FMA) or "v2" (SSE4.2) on x86-64; "generic" elsewhere. BANDMILL_ISA=v2|v3|v4 asks for
// a lower level; a name that is not known or a level the CPU lacks throws InvalidArgument.
// v3 and v4 give the same bits; v2 has no fused multiply-add, so it rounds differently.
const char* cpu_isa();

} // namespace bandmill
