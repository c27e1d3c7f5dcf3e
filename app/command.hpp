// One function per command: adds it to the parser and runs it once the command line is known to be good.
#pragma once

namespace CLI {
class App;
}

namespace app {

void add_info(CLI::App& program);
void add_bench_solve(CLI::App& bench);
void add_bench_own(CLI::App& bench);
void add_bench_stencil(CLI::App& bench);
void add_bench_step(CLI::App& bench);
void add_bench_paper(CLI::App& bench); // diffusion, hyperdiffusion

} // namespace app
