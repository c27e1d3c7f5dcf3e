"""Runs that are stopped, killed, or short of disk: nothing is lost, and what is resumed has the same bits."""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

from studies import (
    BIN,
    ENVIRONMENT,
    LONG,
    SANITIZED,
    assert_refused,
    assert_same_data,
    interrupt,
    read,
    run,
    send,
    start,
    succeed,
    wait_for,
)

# A few seconds on one core: long enough to be caught in the act.
COARSEN_UNTIL, SIMULATE_UNTIL, SAVE_EVERY = (5, 60, 1) if SANITIZED else (300, 8000, 100)
RUNS = {
    "coarsen": f"coarsen --members 400 --points 128 --until {COARSEN_UNTIL} --samples log:300 --threads 1".split(),
    "simulate": f"simulate --members 70 --points 64 --until {SIMULATE_UNTIL} --save-every {SAVE_EVERY} --threads 1".split(),
}


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    folder = tmp_path_factory.mktemp("references")
    for name, arguments in RUNS.items():
        succeed(folder, *arguments, "--out", f"{name}.nc", "--quiet")
    return folder


def children(pid):
    """The processes under one, their launcher's helpers among them."""
    found = []
    for line in subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split():
        found += [int(line), *children(int(line))]
    return found


def kill_with_children(process):
    """A launcher and its ranks, which would go on for a while without it."""
    for pid in [process.pid, *children(process.pid)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    "study, name, code",
    [
        ("coarsen", "SIGINT", 130),
        ("simulate", "SIGINT", 130),
        ("coarsen", "SIGTERM", 143),
        ("coarsen", "SIGUSR1", 138),
        ("coarsen", "SIGHUP", 129),
    ],
)
def test_signals_write_a_checkpoint(tmp_path, references, study, name, code):
    status, err = interrupt(tmp_path, [*RUNS[study], "--out", "x.nc"], send(getattr(signal, name)))
    assert status == code, err
    assert "bandmill resume x.nc.checkpoint" in err
    assert sorted(os.listdir(tmp_path)) == ["x.nc.checkpoint", "x.nc.partial"]
    # A new run does not destroy it.
    assert_refused(run(tmp_path, *RUNS[study], "--out", "x.nc"), "resume", "--force-overwrite")
    succeed(tmp_path, "resume", "x.nc.checkpoint", "--threads", "2", "--quiet")
    assert os.listdir(tmp_path) == ["x.nc"]
    assert_same_data(tmp_path / "x.nc", references / f"{study}.nc")


def test_a_partial_file_can_be_read(tmp_path):
    interrupt(tmp_path, [*RUNS["simulate"], "--out", "x.nc"], send(signal.SIGKILL))
    data = read(tmp_path / "x.nc.partial")
    assert data.C.dims == ("time", "member", "x")
    assert data.C[0, 0].notnull().all() and data.C[-1, -1].isnull().all()


def test_records_belong_to_their_checkpoint(tmp_path):
    interrupt(tmp_path, [*RUNS["simulate"], "--out", "x.nc"], send(signal.SIGINT))
    (tmp_path / "x.nc.partial").rename(tmp_path / "elsewhere")
    done = run(tmp_path, "resume", "x.nc.checkpoint")
    assert done.returncode == 1 and "x.nc.partial" in done.stderr and "beside the checkpoint" in done.stderr


@pytest.mark.parametrize("study", RUNS)
@pytest.mark.parametrize("moment", range(10 if LONG else 2))
def test_killed_at_any_moment(tmp_path, references, study, moment):
    """Killed several times on the way, resumed with other numbers of threads."""
    chance = random.Random(1000 * moment + len(study))
    command, kills = [*RUNS[study], "--out", "x.nc", "--checkpoint-every", "0.02s", "--quiet"], 0
    for _ in range(4):
        with start(tmp_path, *command) as process:
            time.sleep(chance.uniform(0.02, 1))
            process.kill()
            kills += process.wait() != 0
        if (tmp_path / "x.nc").exists():
            break
        if any(".checkpoint" in name for name in os.listdir(tmp_path)):
            command = ["resume", "x.nc.checkpoint", "--threads", chance.choice("12"), "--checkpoint-every", "0.02s", "--quiet"]
        else:
            command = [*RUNS[study], "--out", "x.nc", "--checkpoint-every", "0.02s", "--quiet"]
    if not (tmp_path / "x.nc").exists():
        succeed(tmp_path, *command)
    for name in os.listdir(tmp_path):  # killed between the name and the tidying up
        assert name == "x.nc" or ".checkpoint" in name, name
    assert_same_data(tmp_path / "x.nc", references / f"{study}.nc")


def stopped(folder, name="x.nc"):
    """A checkpoint, as Ctrl-C leaves it."""
    with start(folder, "coarsen", "--members", "3", "--points", "16", "--until", "1e7", "--samples", "log:5", "--out", name) as process:
        wait_for(folder / f"{name}.partial", process)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    return folder / f"{name}.checkpoint"


def test_altered_checkpoints_are_refused(tmp_path):
    good = stopped(tmp_path).read_bytes()
    chance, path = random.Random(1), tmp_path / "y.nc.checkpoint"
    for number in range(200 if SANITIZED else 1000):
        bad = bytearray(good)
        kind = number % 5
        if kind == 0:
            bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        elif kind == 1:
            for _ in range(chance.randrange(1, 20)):
                at = chance.randrange(len(bad))
                bad[at] = (bad[at] + chance.randrange(1, 256)) % 256
        elif kind == 2:
            del bad[chance.randrange(len(bad)) :]
        elif kind == 3:
            bad[chance.randrange(len(bad)) : 0] = bytes(chance.randrange(1, 50))
        else:
            at = chance.randrange(len(bad) - 64)
            bad[at : at + 64] = bytes(chance.randrange(256) for _ in range(64))
        if bytes(bad) == good:
            bad.append(0)
        path.write_bytes(bad)
        done = subprocess.run([BIN, "resume", path], capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path)
        assert done.returncode == 1, (number, done.returncode, done.stderr)
        assert re.search("is damaged|not a bandmill checkpoint|format", done.stderr), done.stderr
        assert done.stderr.count("\n") == 1


def test_foreign_files_are_refused(tmp_path):
    succeed(tmp_path, "coarsen", "--members", "2", "--points", "16", "--until", "1", "--quiet")
    (tmp_path / "empty").write_bytes(b"")
    for name in ["coarsen.nc", "empty"]:
        done = run(tmp_path, "resume", name)
        assert done.returncode == 1 and "not a bandmill checkpoint" in done.stderr
    assert "No such file" in run(tmp_path, "resume", "missing.checkpoint").stderr
    stopped(tmp_path)
    assert_refused(run(tmp_path, "resume", "x.nc"), "x.nc.checkpoint")


def test_a_damaged_checkpoint_gives_way_to_the_previous_one(tmp_path, references):
    arguments = [*RUNS["coarsen"], "--out", "x.nc", "--checkpoint-every", "0.05s"]
    interrupt(tmp_path, arguments, send(signal.SIGKILL), appears="x.nc.checkpoint.previous")
    path = tmp_path / "x.nc.checkpoint"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    done = succeed(tmp_path, "resume", "x.nc.checkpoint")
    assert "damaged" in done.stderr and "previous" in done.stderr
    assert_same_data(tmp_path / "x.nc", references / "coarsen.nc")
    assert os.listdir(tmp_path) == ["x.nc"]


def test_resume_from_another_folder(tmp_path, references):
    (tmp_path / "inner").mkdir()
    interrupt(tmp_path / "inner", [*RUNS["coarsen"], "--out", "x.nc"], send(signal.SIGTERM))
    succeed(tmp_path, "resume", "inner/x.nc.checkpoint", "--quiet")
    assert_same_data(tmp_path / "inner" / "x.nc", references / "coarsen.nc")
    assert os.listdir(tmp_path) == ["inner"]


# --- disks


@contextlib.contextmanager
def small_disk(folder, size, *options):
    """A file system of its own; skipped where it may not be mounted."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", *options]), "bandmill", folder], capture_output=True)
    if done.returncode != 0:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_noticed_before_the_run(tmp_path):
    with small_disk(tmp_path / "disk", "64k") as disk:
        done = run(disk, *RUNS["coarsen"])
        assert done.returncode == 1 and "space" in done.stderr and done.stdout == ""
        assert os.listdir(disk) == []


def test_a_disk_too_full_for_checkpoints_does_not_end_the_run(tmp_path, references):
    size = os.path.getsize(references / "coarsen.nc") + 100_000
    with small_disk(tmp_path / "disk", size) as disk:
        done = succeed(disk, *RUNS["coarsen"], "--out", "x.nc", "--checkpoint-every", "0.05s")
        assert done.stderr.count("warning: the checkpoint was not saved") == 1
        assert_same_data(disk / "x.nc", references / "coarsen.nc")
        assert os.listdir(disk) == ["x.nc"]


def test_stopped_on_a_full_disk(tmp_path, references):
    with small_disk(tmp_path / "disk", os.path.getsize(references / "coarsen.nc") + 100_000) as disk:
        status, err = interrupt(disk, [*RUNS["coarsen"], "--out", "x.nc"], send(signal.SIGINT))
        assert status == 1 and "not saved" in err and "space" in err
        assert os.listdir(disk) == []


def test_results_that_cannot_be_written_are_kept(tmp_path, references):
    """Someone takes the name while the run is under way."""
    take = lambda process: (tmp_path / "x.nc").write_text("mine")
    status, err = interrupt(tmp_path, [*RUNS["coarsen"], "--out", "x.nc"], take)
    assert status == 1 and "nothing is lost" in err and "x.nc.checkpoint" in err
    assert (tmp_path / "x.nc").read_text() == "mine"
    (tmp_path / "x.nc").unlink()
    succeed(tmp_path, "resume", "x.nc.checkpoint", "--quiet")
    assert_same_data(tmp_path / "x.nc", references / "coarsen.nc")


def test_a_read_only_folder_is_refused(tmp_path):
    with small_disk(tmp_path / "disk", "1m", "ro") as disk:
        for study in "coarsen", "simulate":
            assert_refused(run(disk, *RUNS[study]), "Read-only")


def test_two_runs_do_not_share_a_file(tmp_path, references):
    """The second one is refused, whether it starts afresh or resumes, and the first one is not disturbed."""
    for _ in range(5):  # it may be done before it is stopped
        with start(tmp_path, *RUNS["coarsen"], "--out", "x.nc", "--checkpoint-every", "0.05s", "--quiet") as process:
            wait_for(tmp_path / "x.nc.checkpoint", process)
            process.send_signal(signal.SIGSTOP)
            under_way = not (tmp_path / "x.nc").exists()
            try:
                afresh = run(tmp_path, *RUNS["coarsen"], "--out", "x.nc", "--force-overwrite") if under_way else None
                resumed = run(tmp_path, "resume", "x.nc.checkpoint")
            finally:
                process.send_signal(signal.SIGCONT)
            process.communicate(timeout=120)
        if under_way:
            break
        (tmp_path / "x.nc").unlink()
    assert_refused(afresh, "in use")
    assert resumed.returncode != 0 and "in use" in resumed.stderr
    assert process.returncode == 0
    assert_same_data(tmp_path / "x.nc", references / "coarsen.nc")


def test_an_overwrite_that_fails_takes_nothing_away(tmp_path):
    with small_disk(tmp_path / "disk", "1m") as disk:
        stopped(disk)
        before = {name: (disk / name).read_bytes() for name in os.listdir(disk)}
        done = run(disk, *RUNS["simulate"], "--out", "x.nc", "--force-overwrite")
        assert done.returncode == 1 and "space" in done.stderr
        assert {name: (disk / name).read_bytes() for name in os.listdir(disk)} == before


def test_a_damaged_partial_file_does_not_matter_to_coarsen(tmp_path, references):
    interrupt(tmp_path, [*RUNS["coarsen"], "--out", "x.nc"], send(signal.SIGTERM))
    os.truncate(tmp_path / "x.nc.partial", 100)
    succeed(tmp_path, "resume", "x.nc.checkpoint", "--quiet")
    assert_same_data(tmp_path / "x.nc", references / "coarsen.nc")
    assert os.listdir(tmp_path) == ["x.nc"]


def test_force_overwrite_starts_again(tmp_path):
    stopped(tmp_path)
    succeed(tmp_path, "coarsen", "--members", "2", "--points", "16", "--until", "1", "--out", "x.nc", "--force-overwrite", "--quiet")
    assert os.listdir(tmp_path) == ["x.nc"]


# --- ranks

needs_mpi = pytest.mark.skipif(
    shutil.which("mpirun") is None or "MPI built" not in subprocess.run([BIN, "info"], capture_output=True, text=True).stdout,
    reason="this build has no MPI",
)


@needs_mpi
@pytest.mark.parametrize("study", RUNS)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_give_the_same_bits(tmp_path, references, study, ranks):
    done = succeed(tmp_path, *RUNS[study], "--out", "x.nc", ranks=ranks)
    assert done.stdout.count("written to x.nc") == 1
    assert_same_data(tmp_path / "x.nc", references / f"{study}.nc")
    assert read(tmp_path / "x.nc").attrs["ranks"] == ranks
    assert os.listdir(tmp_path) == ["x.nc"]


@needs_mpi
@pytest.mark.parametrize("before, after", [(3, 0), (0, 2), (2, 3)])
def test_resumed_on_another_number_of_ranks(tmp_path, references, before, after):
    command = [*RUNS["coarsen"], "--out", "x.nc", "--checkpoint-every", "0.1s", "--quiet"]
    interrupt(tmp_path, command, kill_with_children, appears="x.nc.checkpoint", ranks=before)
    succeed(tmp_path, "resume", "x.nc.checkpoint", "--quiet", ranks=after)
    assert_same_data(tmp_path / "x.nc", references / "coarsen.nc")


LOSING = "simulate --equation forced-cahn-hilliard --members 4 --points 32 --forcing 0:300000 --quiet".split()


@needs_mpi
def test_lost_members_do_not_depend_on_ranks(tmp_path):
    """A rank whose members are all lost goes on for the others' sake."""
    succeed(tmp_path, *LOSING, "--until", "5", "--out", "1.nc")
    succeed(tmp_path, *LOSING, "--until", "5", "--out", "2.nc", ranks=2)
    assert_same_data(tmp_path / "1.nc", tmp_path / "2.nc")
    assert read(tmp_path / "1.nc").attrs["lost_members"] == 3


def test_lost_members_are_remembered_when_results_have_to_wait(tmp_path):
    longer = ["--until", "1000" if SANITIZED else "50000", "--save-every", "100"]
    take = lambda process: (tmp_path / "x.nc").write_text("mine")
    status, err = interrupt(tmp_path, [*LOSING, *longer, "--out", "x.nc"], take)
    assert status == 1, err
    (tmp_path / "x.nc").unlink()
    succeed(tmp_path, "resume", "x.nc.checkpoint", "--quiet")
    assert read(tmp_path / "x.nc").attrs["lost_members"] == 3


@needs_mpi
def test_an_error_of_one_rank_ends_all(tmp_path):
    command = ["coarsen", "--members", "4", "--points", "16", "--until", "1"]
    line = ["mpirun", "-n", "1", BIN, *command, ":", "-n", "1", BIN, *command, "--config", "only-there.conf"]
    done = subprocess.run(line, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "only-there.conf" in done.stderr


@needs_mpi
def test_more_ranks_than_members(tmp_path):
    arguments = ["coarsen", "--members", "2", "--points", "16", "--until", "2", "--quiet"]
    succeed(tmp_path, *arguments, "--out", "1.nc")
    succeed(tmp_path, *arguments, "--out", "3.nc", ranks=3)
    assert_same_data(tmp_path / "1.nc", tmp_path / "3.nc")


@needs_mpi
def test_a_rank_that_dies_ends_the_job_and_leaves_a_checkpoint(tmp_path, references):
    def kill_one(process):
        with contextlib.suppress(OSError, IndexError):  # all are done
            os.kill([pid for pid in children(process.pid) if os.readlink(f"/proc/{pid}/exe") == str(BIN.resolve())][-1], signal.SIGKILL)

    command = [*RUNS["coarsen"], "--out", "x.nc", "--checkpoint-every", "0.05s", "--quiet"]
    status, _ = interrupt(tmp_path, command, kill_one, appears="x.nc.checkpoint", ranks=3)
    assert status != 0
    succeed(tmp_path, "resume", "x.nc.checkpoint", "--quiet")
    assert_same_data(tmp_path / "x.nc", references / "coarsen.nc")


@needs_mpi
def test_a_warning_signal_to_the_launcher(tmp_path, references):
    status, err = interrupt(tmp_path, [*RUNS["coarsen"], "--out", "x.nc"], send(signal.SIGUSR1), ranks=2)
    assert "bandmill resume x.nc.checkpoint" in err and status == 138
    succeed(tmp_path, "resume", "x.nc.checkpoint", "--quiet", ranks=3)
    assert_same_data(tmp_path / "x.nc", references / "coarsen.nc")


@needs_mpi
def test_errors_of_the_command_line_are_told_once(tmp_path):
    done = run(tmp_path, "coarsen", "--members", "0", ranks=3)
    assert done.returncode == 2
    assert done.stderr.count("bandmill: --members 0") == 1
    succeed(tmp_path, "coarsen", "--members", "2", "--points", "16", "--until", "1", "--quiet")
    done = run(tmp_path, "coarsen", "--members", "2", ranks=3)  # only rank 0 looks at the file
    assert done.returncode == 2 and done.stderr.count("exists already") == 1
