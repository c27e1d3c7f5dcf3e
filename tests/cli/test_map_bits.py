"""bandmill map gives the same bits on any threads and ranks, and however often it is interrupted."""

import os
import pty
import random
import shutil
import signal
import subprocess
import time

import pytest

from maps import assert_same_data, make
from studies import BIN, LONG, SANITIZED, interrupt, read, start, succeed, wait_for


def test_same_bits_for_any_threads_but_not_for_another_seed(tmp_path):
    for threads in 1, 2:
        make(tmp_path, "--refine", "2", "--threads", threads, out=f"{threads}.nc")
    assert_same_data(tmp_path / "1.nc", tmp_path / "2.nc")
    assert not make(tmp_path, "--seed", "2", out="other.nc").state.equals(read(tmp_path / "1.nc").state)


# Many rounds: all cells, some by shorter and shorter steps (the second forcing moves the mean), and borders; a few cells
# are lost. Some seconds on one core.
SIZE = ["--grid", "10x8", "--until", "0.5"] if SANITIZED else ["--grid", "20x16", "--until", "8"]
LONG_RUN = ["map", *SIZE, "--points", "64", "--dt", "0.02", "--mean", "0:1", "--wavenumber", "1,1.25", "--refine", "3",
            "--threads", "1", "--keep-states", "5x4", "--out", "x.nc"]  # fmt: skip


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    began = time.monotonic()
    succeed(folder, *LONG_RUN, "--quiet")
    seconds, attributes = time.monotonic() - began, read(folder / "x.nc").attrs
    if not SANITIZED:
        assert attributes["repeated_cells"] > 300 and attributes["refined_runs"] > 0 and attributes["lost_members"] > 0
    return folder / "x.nc", seconds


needs_mpi = pytest.mark.skipif(
    shutil.which("mpirun") is None or "MPI built" not in subprocess.run([BIN, "info"], capture_output=True, text=True).stdout,
    reason="this build has no MPI",
)


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_give_the_same_bits(tmp_path, reference, ranks):
    done = succeed(tmp_path, *LONG_RUN, ranks=ranks)
    assert done.stdout.count("written to x.nc") == 1
    assert_same_data(tmp_path / "x.nc", reference[0])
    assert os.listdir(tmp_path) == ["x.nc"]


@needs_mpi
def test_more_ranks_than_cells(tmp_path):
    arguments = ["--grid", "2x1", "--refine", "1"]
    make(tmp_path, *arguments, out="1.nc")
    make(tmp_path, *arguments, out="3.nc", ranks=3)
    assert_same_data(tmp_path / "1.nc", tmp_path / "3.nc")


def interrupt_until_done(folder, chance, longest):
    """Runs LONG_RUN, stopped after `longest` seconds at most, again and again. Returns how often."""
    command, stops = LONG_RUN, 0
    for _ in range(40):
        with start(folder, *command, "--quiet") as process:
            time.sleep(chance.uniform(0.3, 1) * longest)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=120)
        if (folder / "x.nc").exists():  # done; a late signal may have met it on its way out, handlers gone
            return stops
        if process.returncode == 130:
            stops += 1
            assert "bandmill resume x.nc.checkpoint" in err
        else:
            assert process.returncode == -signal.SIGINT, err  # it was not up yet
        if (folder / "x.nc.checkpoint").exists():
            command = ["resume", "x.nc.checkpoint", "--threads", chance.choice("12")]
    succeed(folder, *command, "--quiet")
    return stops


@pytest.mark.parametrize("moment", range(10 if LONG else 2))
def test_interrupted_again_and_again(tmp_path, reference, moment):
    """So often that every round is met."""
    path, seconds = reference
    chance = random.Random(moment)
    # How long a run takes depends on what else runs here: if it is done too soon, once more with less patience.
    for longest in seconds / 2, seconds / 4, seconds / 8, seconds / 16:
        stops = interrupt_until_done(tmp_path, chance, longest)
        assert os.listdir(tmp_path) == ["x.nc"]
        assert_same_data(tmp_path / "x.nc", path)
        if stops >= 3 or SANITIZED:
            return
        (tmp_path / "x.nc").unlink()
    raise AssertionError("never interrupted three times")


@pytest.mark.parametrize("moment", range(10 if LONG else 2))
def test_killed_and_resumed(tmp_path, reference, moment):
    path, seconds = reference
    chance = random.Random(100 + moment)
    afresh = [*LONG_RUN, "--checkpoint-every", "0.02s", "--quiet"]
    command = afresh
    for _ in range(4):
        with start(tmp_path, *command) as process:
            time.sleep(chance.uniform(0.05, 0.7) * seconds)
            process.kill()
        if (tmp_path / "x.nc").exists():
            break
        saved = any(".checkpoint" in name for name in os.listdir(tmp_path))
        command = ["resume", "x.nc.checkpoint", "--checkpoint-every", "0.02s", "--quiet"] if saved else afresh
    if not (tmp_path / "x.nc").exists():
        succeed(tmp_path, *command)
    assert_same_data(tmp_path / "x.nc", path)


@needs_mpi
@pytest.mark.parametrize("before, after, share", [(3, 0, 0.2), (0, 2, 0.5), (2, 3, 0.4), (2, 1, 0.7)])
def test_resumed_on_another_number_of_ranks(tmp_path, reference, before, after, share):
    path, seconds = reference
    command = [*LONG_RUN, "--checkpoint-every", "0.05s", "--quiet"]
    with start(tmp_path, *command, ranks=before) as process:
        wait_for(tmp_path / "x.nc.checkpoint", process)
        time.sleep(share * seconds)
        process.send_signal(signal.SIGUSR1)  # a launcher passes it on
        process.communicate(timeout=120)
    if not (tmp_path / "x.nc").exists():
        assert process.returncode == 138
        succeed(tmp_path, "resume", "x.nc.checkpoint", "--quiet", ranks=after)
    assert_same_data(tmp_path / "x.nc", path)


@needs_mpi
@pytest.mark.skipif(SANITIZED, reason="takes minutes")
def test_refinement_resumed_by_more_ranks(tmp_path):
    """Stopped in the closing window of the last round: a rank that goes on with a run needs what it had shown before."""
    command = ["map", "--grid", "16x16", "--points", "64", "--dt", "0.001", "--until", "60", "--window", "40", "--mean",
               "0:0.6", "--forcing", "0.66:0.76", "--refine", "4", "--kmeans-restarts", "0", "--threads", "1"]  # fmt: skip
    succeed(tmp_path, *command, "--quiet", "--out", "whole.nc")
    ours, theirs = pty.openpty()
    with start(tmp_path, *command, "--out", "x.nc", stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"runs at borders, t = " not in shown:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # it is at its end
                break
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    os.close(ours)
    if (tmp_path / "x.nc").exists():
        pytest.skip("it was too fast to be stopped there")
    assert process.returncode == 143
    succeed(tmp_path, "resume", "x.nc.checkpoint", "--quiet", ranks=2)
    assert_same_data(tmp_path / "x.nc", tmp_path / "whole.nc")


def test_results_that_cannot_be_written_are_kept(tmp_path, reference):
    take = lambda process: (tmp_path / "x.nc").write_text("mine")
    status, err = interrupt(tmp_path, [*LONG_RUN, "--quiet"], take)
    assert status == 1 and "nothing is lost" in err
    (tmp_path / "x.nc").unlink()
    succeed(tmp_path, "resume", "x.nc.checkpoint", "--quiet")
    assert_same_data(tmp_path / "x.nc", reference[0])
