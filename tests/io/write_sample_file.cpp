// Writes the file that data_file_reading_test.py reads.
// write_sample_file FILE            makes it and writes a part of its values
// write_sample_file FILE reopened   opens it and writes the rest
// write_sample_file FILE endlessly  makes it and writes values and attributes until it is killed
#include "bandmill/io/data_file.hpp"

#include <cstdio>
#include <string_view>

namespace {

using namespace bandmill;

// All of them are written with one number at a time, so that a reader can tell torn values.
constexpr std::int64_t bulk = 1000;

DataLayout sample_layout() {
    DataLayout layout{
        .dimensions = {{"time", 3}, {"member", 4}, {"bin", 5}, {"bulk", bulk}},
        .variables = {{"mean", NumberType::f64, {"time", "member"}, {{"long_name", "mean of C"}, {"units", "1"}}},
                      {"time", NumberType::f64, {"time"}, {{"long_name", "time"}, {"units", "s"}}},
                      {"energy", NumberType::f32, {"time", "member"}, {{"long_name", "free energy"}, {"scale", 0.5}}},
                      {"count", NumberType::i64, {"time", "member", "bin"}, {{"long_name", "members in a bin"}}},
                      {"member", NumberType::i64, {"member"}, {}},
                      {"wall_time", NumberType::f64, {}, {{"units", "s"}}},
                      {"unknown", NumberType::f32, {}, {}},
                      {"repeated", NumberType::i64, {"bulk"}, {}}},
        .attributes = {{"title", std::string("Größe · sample")},
                       {"state", "not finished yet"},
                       {"nothing", ""},
                       {"seed", std::int64_t{1} << 60},
                       {"gamma", 0.01},
                       {"history", std::string(100'000, 'h')}}};
    // HDF5 stores more than 8 attributes in another way.
    for (int number = 0; number < 8; ++number)
        layout.attributes.push_back({"more_" + std::to_string(number), std::int64_t{number}});
    return layout;
}

void write_first_part(DataFile& file) {
    file.write("time", 0, std::vector{0.0, 0.25, 0.5});
    file.write("member", 0, std::vector<std::int64_t>{10, 11, 12, 13});
    file.write("mean", 0, std::vector{1.0, 2.0, 3.0, 4.0, 5.0}); // the first row and one number of the second
    file.write("energy", 4, std::vector{0.1, 0.2, 1e300});       // converted
    file.write("wall_time", 0, std::vector{12.5});
    std::vector<double> counts(40);
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] = static_cast<double>(k);
    file.write("count", 0, counts);
}

void write_second_part(DataFile& file) {
    file.write("mean", 11, std::vector{12.0f});
    file.write("energy", 0, std::vector<std::int64_t>{7});
    file.set_attribute("state", "finished");
    file.write("mean", 10, std::vector{11.0}); // the descriptor is still good
    file.set_attribute("seed", std::int64_t{42});
    file.set_attribute("gamma", 0.02);
    file.set_attribute("title", "");
    file.flush();
}

[[noreturn]] void write_endlessly(DataFile& file) {
    for (std::int64_t round = 0;; ++round) {
        file.write("repeated", 0, std::vector<std::int64_t>(bulk, round));
        file.set_attribute("state", "round " + std::to_string(round));
        if (round == 0) std::puts("writing"), std::fflush(stdout);
    }
}

} // namespace

int main(int count, char** arguments) try {
    if (count < 2 || count > 3) {
        std::fputs("usage: write_sample_file FILE [reopened | endlessly]\n", stderr);
        return 2;
    }
    const std::string path = arguments[1];
    const std::string_view how = count == 3 ? arguments[2] : "";
    DataFile file = how == "reopened" ? DataFile::open(path, sample_layout()) : DataFile::create(path, sample_layout());
    if (how == "reopened")
        write_second_part(file);
    else
        write_first_part(file);
    if (how == "endlessly") write_endlessly(file);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "write_sample_file: %s\n", error.what());
    return 1;
}
