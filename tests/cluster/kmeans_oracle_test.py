"""k-means beside scikit-learn, from the same starts; and by mpirun, with the same bits."""

import os
import pathlib
import shutil
import subprocess
from types import SimpleNamespace

import pytest

numpy = pytest.importorskip("numpy")

PROGRAM = pathlib.Path(os.environ["BANDMILL_BIN"]) / "kmeans_program"
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "ASAN_OPTIONS": "detect_leaks=0",  # Open MPI keeps some memory to the end
}


def kmeans(folder, rows, clusters, start=None, most=300, restarts=8, seed=1, single=False, ranks=0, **more):
    """Head, start and rows go to the program; inertia, iterations, ranks, sizes, centroids and labels come back."""
    count, dimensions = rows.shape
    head = [count, dimensions, clusters, start is not None, most, restarts, seed, single]
    parts = [numpy.array(head, numpy.int64), *([] if start is None else [start]), rows]
    (folder / "in").write_bytes(b"".join(numpy.ascontiguousarray(part).tobytes() for part in parts))
    launcher = ["mpirun", "-n", str(ranks)] if ranks else []
    line = [*launcher, PROGRAM, folder / "in", folder / "out"]
    done = subprocess.run(line, env={**ENVIRONMENT, **more}, capture_output=True, text=True, timeout=120)
    if "this CPU offers only" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    raw = (folder / "out").read_bytes()
    numbers = numpy.frombuffer(raw, numpy.float64, 1)
    whole = numpy.frombuffer(raw, numpy.int64, 2 + clusters, 8)
    centroids = numpy.frombuffer(raw, numpy.float64, clusters * dimensions, 8 * (3 + clusters))
    labels = numpy.frombuffer(raw, numpy.int8, count, 8 * (3 + clusters + clusters * dimensions))
    return SimpleNamespace(
        inertia=numbers[0],
        iterations=whole[0],
        ranks=whole[1],
        sizes=whole[2:],
        centroids=centroids.reshape(clusters, dimensions),
        labels=labels,
        same=(numbers.tobytes(), whole[0], whole[2:].tobytes(), centroids.tobytes(), labels.tobytes()),
    )


def blobs(random, count, dimensions, centres):
    middle = random.normal(size=(centres, dimensions)) * 3
    return middle[random.integers(centres, size=count)] + random.normal(size=(count, dimensions))


def noise(random, count, dimensions, _):
    return random.uniform(-1, 1, size=(count, dimensions))


def duplicates(random, count, dimensions, centres):
    some = random.uniform(-1, 1, size=(max(1, count // 5), dimensions))
    return some[random.integers(len(some), size=count)]


@pytest.mark.parametrize("kind", [blobs, noise, duplicates])
@pytest.mark.parametrize(
    "count, dimensions, clusters",
    [(1, 1, 1), (2, 3, 2), (7, 1, 3), (40, 2, 3), (100, 31, 4), (300, 32, 3), (300, 33, 5), (500, 257, 3), (2000, 64, 20)],
)
@pytest.mark.parametrize("single", [False, True])
def test_as_scikit_learn(tmp_path, kind, count, dimensions, clusters, single):
    cluster = pytest.importorskip("sklearn.cluster")
    random = numpy.random.default_rng([count, dimensions, clusters, single])
    rows = kind(random, count, dimensions, clusters)
    if single:
        rows = rows.astype(numpy.float32).astype(numpy.float64)
    distinct = numpy.unique(rows, axis=0)
    clusters = min(clusters, len(distinct))  # beyond, scikit-learn's labels are arbitrary
    start = distinct[random.choice(len(distinct), clusters, replace=False)]
    expected = cluster.KMeans(clusters, init=start, n_init=1, max_iter=300, tol=0, algorithm="lloyd").fit(rows)
    found = kmeans(tmp_path, rows, clusters, start, single=single)
    numpy.testing.assert_array_equal(found.labels, expected.labels_)
    numpy.testing.assert_allclose(found.inertia, expected.inertia_, rtol=1e-9, atol=1e-20)
    numpy.testing.assert_allclose(found.centroids, expected.cluster_centers_, rtol=1e-9, atol=1e-11)
    numpy.testing.assert_array_equal(found.sizes, numpy.bincount(expected.labels_, minlength=clusters))


@pytest.mark.parametrize("empty", [1, 2, 3])
def test_empty_clusters_as_scikit_learn(tmp_path, empty):
    """Centroids beyond all rows take the farthest ones."""
    cluster = pytest.importorskip("sklearn.cluster")
    random = numpy.random.default_rng(empty)
    rows = blobs(random, 400, 5, 4)
    start = numpy.vstack([rows[:2], 1000 + 10 * numpy.arange(empty)[:, None] + numpy.zeros((empty, 5))])
    expected = cluster.KMeans(2 + empty, init=start, n_init=1, max_iter=300, tol=0, algorithm="lloyd").fit(rows)
    found = kmeans(tmp_path, rows, 2 + empty, start)
    assert found.sizes.min() > 0
    numpy.testing.assert_array_equal(found.labels, expected.labels_)
    numpy.testing.assert_allclose(found.inertia, expected.inertia_, rtol=1e-9)


def test_as_good_as_scikit_learn(tmp_path):
    """From starts of their own, both find the clusters that are there; seeding is as good on noise."""
    cluster = pytest.importorskip("sklearn.cluster")
    random = numpy.random.default_rng(3)
    rows = blobs(random, 1000, 8, 3) * 10
    expected = cluster.KMeans(3, n_init=8, tol=0, random_state=1).fit(rows)
    assert kmeans(tmp_path, rows, 3).inertia == pytest.approx(expected.inertia_, rel=1e-9)
    rows = noise(random, 1000, 2, 0)
    ours = [kmeans(tmp_path, rows, 12, restarts=1, seed=seed).inertia for seed in range(30)]
    theirs = [cluster.KMeans(12, n_init=1, tol=0, random_state=seed).fit(rows).inertia_ for seed in range(30)]
    spread = numpy.hypot(numpy.std(ours), numpy.std(theirs)) / 30**0.5
    assert numpy.mean(ours) < numpy.mean(theirs) + max(5 * spread, 0.04 * numpy.mean(theirs))


@pytest.mark.parametrize("level", ["v3", "v4"])
@pytest.mark.parametrize("single", [False, True])
def test_instruction_sets_give_the_same_bits(tmp_path, level, single):
    random = numpy.random.default_rng(8)
    for dimensions in (1, 31, 100):
        rows = noise(random, 300, dimensions, 0)
        one, other = (kmeans(tmp_path, rows, 5, restarts=2, single=single, BANDMILL_ISA=name) for name in ("v2", level))
        assert one.same == other.same


@pytest.mark.skipif(
    shutil.which("mpirun") is None or subprocess.run([PROGRAM, "--mpi"]).returncode != 0, reason="this build has no MPI"
)
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_give_the_same_bits(tmp_path, ranks):
    random = numpy.random.default_rng(9)
    for kind, count in [(blobs, 301), (duplicates, 50), (noise, 2)]:
        rows = kind(random, count, 40, 3)
        rows[count // 2, 7] = numpy.nan
        start = numpy.vstack([rows[:1], rows[:1] + 1e-3, rows[:1] + 1000])  # the last one is empty
        for given in (None, start):
            alone, together = (kmeans(tmp_path, rows, 3, given, restarts=3, ranks=n) for n in (0, ranks))
            assert (alone.ranks, together.ranks) == (1, ranks)
            assert alone.same == together.same
