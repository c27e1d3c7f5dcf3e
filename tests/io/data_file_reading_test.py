"""A DataFile as others read it: h5py, netCDF4 and xarray. write_sample_file.cpp says what is in it."""

import os
import pathlib
import subprocess
import time

import pytest

numpy = pytest.importorskip("numpy")
h5py = pytest.importorskip("h5py")

PROGRAM = pathlib.Path(os.environ["BANDMILL_BIN"]) / "write_sample_file"
HISTORY = "h" * 100_000


def write(path, *arguments):
    subprocess.run([PROGRAM, path, *arguments], check=True, timeout=60)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    path = tmp_path_factory.mktemp("begun") / "sample.nc"
    write(path)
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("finished") / "sample.nc"
    write(path)
    write(path, "reopened")
    return path


def expected_mean(is_finished):
    mean = numpy.full(12, numpy.nan)
    mean[:5] = [1, 2, 3, 4, 5]
    if is_finished:
        mean[10:] = [11, 12]
    return mean.reshape(3, 4)


def expected_energy(is_finished):
    energy = numpy.full(12, numpy.nan, numpy.float32)
    energy[4:7] = [0.1, 0.2, numpy.inf]
    if is_finished:
        energy[0] = 7
    return energy.reshape(3, 4)


def expected_count():
    count = numpy.zeros(60, numpy.int64)
    count[:40] = numpy.arange(40)
    return count.reshape(3, 4, 5)


def test_h5py(begun):
    with h5py.File(begun) as file:
        assert list(file) and set(file) == {
            *("mean", "time", "energy", "count", "member", "wall_time", "unknown", "repeated", "bin", "bulk")
        }
        mean = file["mean"]
        assert mean.dtype == "<f8" and mean.shape == (3, 4) and mean.chunks is None
        assert file["energy"].dtype == "<f4" and file["count"].dtype == "<i8"
        assert [dimension[0].name for dimension in mean.dims] == ["/time", "/member"]
        assert [dimension[0].name for dimension in file["count"].dims] == ["/time", "/member", "/bin"]
        assert numpy.isnan(mean.fillvalue) and numpy.isnan(file["unknown"].fillvalue)
        numpy.testing.assert_array_equal(mean, expected_mean(False))
        numpy.testing.assert_array_equal(file["energy"], expected_energy(False))
        numpy.testing.assert_array_equal(file["count"], expected_count())
        assert file["wall_time"][()] == 12.5 and numpy.isnan(file["unknown"][()])
        assert file.attrs["title"].decode() == "Größe · sample"
        assert file.attrs["state"] == b"not finished yet"
        assert file.attrs["nothing"] == b""
        assert file.attrs["history"].decode() == HISTORY
        assert file.attrs["seed"] == 2**60 and file.attrs["gamma"] == 0.01
        assert file["energy"].attrs["scale"] == 0.5


def test_every_value_has_its_own_place_in_the_file(begun):
    with h5py.File(begun) as file:
        places = sorted(
            (file[name].id.get_offset(), file[name].nbytes) for name in file if name not in ("bin", "bulk")
        )
        assert file["bin"].id.get_offset() is None  # a dimension alone takes no space
    for (first, size), (second, _) in zip(places, places[1:]):
        assert first + size <= second
    assert places[-1][0] + places[-1][1] <= begun.stat().st_size
    assert begun.stat().st_blocks * 512 >= begun.stat().st_size  # no holes


def test_equal_runs_make_equal_bytes(begun, tmp_path):
    write(tmp_path / "again.nc")
    assert (tmp_path / "again.nc").read_bytes() == begun.read_bytes()


def test_netcdf(begun):
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset(begun) as file:
        assert [(name, len(one)) for name, one in file.dimensions.items()] == [
            *(("time", 3), ("member", 4), ("bin", 5), ("bulk", 1000))
        ]
        assert not any(dimension.isunlimited() for dimension in file.dimensions.values())
        # in the order of the layout, without the dimensions that have no coordinate
        assert list(file.variables) == [
            *("mean", "time", "energy", "count", "member", "wall_time", "unknown", "repeated")
        ]
        assert file["mean"].dimensions == ("time", "member")
        assert file["count"].dimensions == ("time", "member", "bin")
        assert file["time"].dimensions == ("time",) and file["wall_time"].dimensions == ()
        assert file["mean"].ncattrs() == ["_FillValue", "long_name", "units"]
        assert file["time"].ncattrs() == ["long_name", "units"] and file["member"].ncattrs() == []
        assert file["mean"].units == "1" and file["mean"].long_name == "mean of C"
        assert file["count"].ncattrs() == ["long_name"]
        assert file.ncattrs() == [
            *("title", "state", "nothing", "seed", "gamma", "history"),
            *(f"more_{number}" for number in range(8)),
        ]
        assert file.title == "Größe · sample" and file.nothing == "" and file.history == HISTORY
        assert file.seed == 2**60 and file.gamma == 0.01
        assert not numpy.ma.is_masked(file["count"][:])  # a 0 is a number
        numpy.testing.assert_array_equal(file["count"][:], expected_count())
        numpy.testing.assert_array_equal(numpy.ma.getmaskarray(file["mean"][:]), numpy.isnan(expected_mean(False)))


@pytest.mark.parametrize("is_finished", [False, True])
def test_xarray(begun, finished, is_finished):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    with xarray.open_dataset(finished if is_finished else begun, engine="netcdf4", decode_times=False) as data:
        assert dict(data.sizes) == {"time": 3, "member": 4, "bin": 5, "bulk": 1000}
        assert set(data.coords) == {"time", "member"}
        numpy.testing.assert_array_equal(data.time, [0, 0.25, 0.5])
        numpy.testing.assert_array_equal(data.member, [10, 11, 12, 13])
        assert data["mean"].dtype == numpy.float64 and data["mean"].dims == ("time", "member")
        assert data.energy.dtype == numpy.float32
        assert data["count"].dtype == numpy.int64 and data.member.dtype == numpy.int64
        numpy.testing.assert_array_equal(data["mean"], expected_mean(is_finished))
        numpy.testing.assert_array_equal(data.energy, expected_energy(is_finished))
        numpy.testing.assert_array_equal(data["count"], expected_count())
        assert data.wall_time.shape == () and data.wall_time == 12.5 and numpy.isnan(data.unknown)
        assert data["mean"].sel(time=0.25, member=10) == 5
        assert data["mean"].attrs == {"long_name": "mean of C", "units": "1"}
        assert data.attrs["nothing"] == "" and type(data.attrs["state"]) is str
        if is_finished:
            changed = ("", "finished", 42, 0.02)
        else:
            changed = ("Größe · sample", "not finished yet", 2**60, 0.01)
        assert tuple(data.attrs[name] for name in ("title", "state", "seed", "gamma")) == changed


def test_netcdf_appends_to_it(begun, tmp_path):
    """What netCDF writes into the file leaves it as it was: its structure is netCDF's own."""
    netCDF4 = pytest.importorskip("netCDF4")
    path = tmp_path / "copy.nc"
    path.write_bytes(begun.read_bytes())
    with netCDF4.Dataset(path, "a") as file:
        file.comment = "looked at"
        file.createVariable("doubled", "f8", ("member",))[:] = [2, 4, 6, 8]
    with netCDF4.Dataset(path) as file:
        numpy.testing.assert_array_equal(file["doubled"][:], [2, 4, 6, 8])
        numpy.testing.assert_array_equal(file["mean"][0], [1, 2, 3, 4])
        assert file.comment == "looked at"


@pytest.mark.parametrize("delay", [0, 0.001, 0.003, 0.01, 0.03, 0.1])
def test_killed_while_writing(tmp_path, delay):
    path = tmp_path / "killed.nc"
    with subprocess.Popen([PROGRAM, path, "endlessly"], stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"writing\n"
        time.sleep(delay)
        assert program.poll() is None
        program.kill()
    with h5py.File(path) as file:
        assert file.attrs["state"].startswith(b"round ")
        repeated = file["repeated"][:]
        assert repeated.max() - repeated.min() <= 1
        numpy.testing.assert_array_equal(file["count"], expected_count())
    write(path, "reopened")


def test_read_while_it_is_written(tmp_path):
    """A reader that holds the file, and HDF5's lock with it, does not stop the run."""
    path = tmp_path / "watched.nc"
    with subprocess.Popen([PROGRAM, path, "endlessly"], stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"writing\n"
        try:
            # Values only: attributes are read as they change, and HDF5 could meet one half-way.
            with h5py.File(path) as file:
                first = file["repeated"][0]
                deadline = time.monotonic() + 20
                while file["repeated"][0] < first + 10:
                    assert program.poll() is None and time.monotonic() < deadline
        finally:
            program.kill()
