#include "bandmill/band/factor.hpp"

#include "bandmill/cuda/factor_data.hpp"
#include "bandmill/cuda/tuning.hpp"
#include "bandmill/cuda/two_passes.hpp"

#include <initializer_list>

namespace bandmill {
namespace {

// Several host tables, uploaded as one allocation; returns where each of them starts.
template <class T> class Upload {
  public:
    void add(const std::vector<T>& table) {
        starts_.push_back(values_.size());
        values_.insert(values_.end(), table.begin(), table.end());
        values_.resize((values_.size() + 31) / 32 * 32); // 128-byte lines
    }
    Array<T, Cuda> send(Device device) { return Array<T, Cuda>(std::span<const T>(values_), device); }
    std::size_t start(int which) const { return starts_[which]; }

  private:
    std::vector<T> values_;
    std::vector<std::size_t> starts_;
};

} // namespace

template <class T> Factor<T, Cuda> factor(const BandMatrix& matrix, Device device) {
    const DeviceLimits limits = device_limits(device); // also checks that the device exists
    const detail::SolveTables<T> tables =
        detail::prepare<T>(matrix, cuda::choose_partition(matrix.size(), matrix.half_bandwidth()));
    auto data = std::make_shared<detail::FactorData<T, Cuda>>();
    data->device = device;
    data->limits = limits;
    Upload<T> upload;
    auto send = [&](std::initializer_list<const std::vector<T>*> parts) {
        for (const auto* part : parts) upload.add(*part);
        data->values = upload.send(device);
    };
    auto part = [&](int which) { return data->values.data() + upload.start(which); };
    if (tables.partitioned) {
        send({&tables.partitioned->rows, &tables.partitioned->separators});
        data->partition = tables.partitioned->partition;
        data->partitioned = tables.partitioned->view();
        data->partitioned.rows = part(0);
        data->partitioned.separators = part(1);
        for (const bool contiguous : {false, true})
            data->staged[contiguous] =
                cuda::plan_staged<T>(device, matrix.half_bandwidth(), data->partition, contiguous);
        data->two_passes = data->partition.segments > cuda::most_segments_in_block;
        if (data->two_passes) data->workspace = std::make_unique<Workspace>(device);
    } else if (tables.direct) {
        send({&tables.direct->forward, &tables.direct->backward, &tables.direct->corner});
        data->direct = {matrix.size(), part(0), part(1), part(2)};
    } else {
        send({&tables.pivoted->forward, &tables.pivoted->backward});
        data->exchanges = Array<std::int8_t, Cuda>(std::span<const std::int8_t>(tables.pivoted->pivot), device);
        data->reach = tables.pivoted->reach;
        data->pivoted = {matrix.size(), tables.pivoted->folded, part(0), part(1), data->exchanges.data()};
    }
    const int slots = static_cast<int>(data->partition.slots);
    data->kernel = cuda::kernel_for<T>(tables.report.path, matrix.half_bandwidth(),
                                       matrix.boundary() == Boundary::periodic, slots, data->reach);
    load_kernel(device, data->kernel);
    if (data->two_passes) cuda::load_two_passes<T>(device, matrix.half_bandwidth());
    FactorReport report = tables.report;
    report.bytes = data->values.size() * sizeof(T) + data->exchanges.size();
    if (data->two_passes)
        report.workspace_bytes_per_system =
            cuda::two_passes_bytes_per_system<T>(matrix.half_bandwidth(), data->partition);
    return {matrix, report, std::move(data)};
}

template Factor<double, Cuda> factor<double>(const BandMatrix&, Device);
template Factor<float, Cuda> factor<float>(const BandMatrix&, Device);

} // namespace bandmill
