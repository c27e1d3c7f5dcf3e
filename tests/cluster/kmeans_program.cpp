// kmeans_program IN OUT  clusters the rows in IN; kmeans_oracle_test.py says what is in the files. Rank r of n has rows
//                        r, r + n, r + 2 n, ..., in two blocks.
// kmeans_program --mpi   ends with 0 if this build has MPI
#include "bandmill/cluster/kmeans.hpp"
#include "bandmill/dist/communicator.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

namespace {

using namespace bandmill;

struct Head {
    std::int64_t rows, dimensions, clusters, has_start, most_iterations, restarts, seed, single_precision;
};

template <class T> std::vector<T> read(std::ifstream& file, std::int64_t count) {
    std::vector<T> numbers(static_cast<std::size_t>(count));
    if (!file.read(reinterpret_cast<char*>(numbers.data()), count * static_cast<std::int64_t>(sizeof(T))))
        throw std::runtime_error("the input is too short");
    return numbers;
}
template <class T> std::string bytes_of(const std::vector<T>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

template <class T>
KMeansResult cluster(const Head& head, std::vector<double> start, const std::vector<double>& all, Communicator& ranks) {
    std::vector<T> values;
    std::vector<std::int64_t> numbers;
    for (std::int64_t row = ranks.rank(); row < head.rows; row += ranks.size()) {
        const auto first = all.begin() + row * head.dimensions;
        values.insert(values.end(), first, first + head.dimensions);
        numbers.push_back(row);
    }
    const std::size_t half = numbers.size() / 2, border = half * static_cast<std::size_t>(head.dimensions);
    const RowBlock<T> blocks[] = {{std::span(values).first(border), std::span(numbers).first(half)},
                                  {std::span(values).subspan(border), std::span(numbers).subspan(half)}};
    KMeansOptions options;
    options.clusters = static_cast<int>(head.clusters);
    options.most_iterations = static_cast<int>(head.most_iterations);
    options.restarts = static_cast<int>(head.restarts);
    options.seed = static_cast<std::uint64_t>(head.seed);
    if (head.has_start) return kmeans_from<T>(std::move(start), blocks, head.dimensions, options, Threads{1}, ranks);
    return kmeans<T>(blocks, head.dimensions, options, Threads{1}, ranks);
}

void run(const std::string& in, const std::string& out, Communicator& ranks) {
    std::ifstream file(in, std::ios::binary);
    const Head head = read<Head>(file, 1)[0];
    std::vector<double> start;
    if (head.has_start) start = read<double>(file, head.clusters * head.dimensions);
    const std::vector<double> all = read<double>(file, head.rows * head.dimensions);
    const KMeansResult result =
        head.single_precision ? cluster<float>(head, start, all, ranks) : cluster<double>(head, start, all, ranks);

    const std::vector<std::string> parts = ranks.gather(bytes_of(result.labels[0]) + bytes_of(result.labels[1]));
    if (!ranks.is_root()) return;
    std::string labels;
    const auto count = static_cast<std::size_t>(ranks.size());
    for (std::size_t row = 0; row < static_cast<std::size_t>(head.rows); ++row)
        labels += parts[row % count][row / count];
    std::ofstream(out, std::ios::binary) << bytes_of(std::vector{result.inertia})
                                         << bytes_of(std::vector<std::int64_t>{result.iterations, ranks.size()})
                                         << bytes_of(result.sizes) << bytes_of(result.centroids) << labels;
}

} // namespace

int main(int count, char** arguments) try {
    if (count == 2 && std::string(arguments[1]) == "--mpi") return bandmill::mpi_built() ? 0 : 1;
    if (count != 3) {
        std::fputs("usage: kmeans_program IN OUT\n", stderr);
        return 2;
    }
    const auto ranks = bandmill::connect();
    run(arguments[1], arguments[2], *ranks);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "kmeans_program: %s\n", error.what());
    return 1;
}
