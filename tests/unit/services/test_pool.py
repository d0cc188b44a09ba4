"""Worker processes: their limits, their ends, the order of their answers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ctxcli.model.errors import DataError
from ctxcli.services.ingest.messages import Failed, Job, Read
from ctxcli.services.ingest.pool import Limits, Pool, command, size_for
from tests.unit.services.fakes import ROOT, bad_worker

LIMITS = Limits(seconds=30)


def jobs_for(folder: Path, *names: str) -> list[Job]:
    for name in names:
        (folder / name).write_text(f"# {name}\n\ntext of {name}\n", encoding="utf-8")
    return [Job(str(folder / name), name, 10) for name in names]


def outcomes(jobs: Sequence[Job], line: Sequence[str], *, size: int = 2, limits: Limits = LIMITS) -> dict[str, str]:
    with Pool(line, size=size, limits=limits) as pool:
        return {job.name: one.code if isinstance(one, Failed) else "read" for job, one in pool.run(jobs)}


def test_answers_come_in_the_order_asked(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, *[f"{number}.md" for number in range(20)])
    slow_first = bad_worker("if job.name == '0.md': time.sleep(0.3)")
    with Pool(slow_first, size=2, limits=LIMITS) as pool:
        found = [(job.name, one) for job, one in pool.run(jobs)]
    assert [name for name, _ in found] == [job.name for job in jobs]
    assert all(isinstance(one, Read) and one.prepared and one.prepared.chunks for _, one in found)


def test_a_file_that_hangs_costs_itself_only(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, "a.md", "hang.md", "z.md")
    line = bad_worker("if 'hang' in job.name: time.sleep(1000)")
    found = outcomes(jobs, line, limits=Limits(seconds=1, seconds_per_mb=0))
    assert found == {"a.md": "read", "hang.md": "timeout", "z.md": "read"}


def test_a_file_that_crashes_its_reader_costs_itself_only(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, "a.md", "b-crash.md", "c-crash.md", "z.md")
    line = bad_worker("if 'crash' in job.name: os.kill(os.getpid(), 11)")
    found = outcomes(jobs, line)
    assert found == {"a.md": "read", "b-crash.md": "crashed", "c-crash.md": "crashed", "z.md": "read"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory so")
def test_a_file_that_takes_all_memory_costs_itself_only(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, "a.md", "bomb.md", "z.md")
    line = bad_worker("if 'bomb' in job.name: held = [b'x' * (64 << 20) for _ in range(100)]", memory=1 << 30)
    assert outcomes(jobs, line) == {"a.md": "read", "bomb.md": "memory", "z.md": "read"}


@pytest.mark.parametrize("error", ["ValueError('odd')", "RecursionError()"])
def test_a_parser_with_a_bug_costs_one_file(error: str, tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, "a.md", "bug.md", "z.md")
    body = f"""
import ctxcli.services.prepare as module
original = getattr(module, 'original', module.prepare)
module.original = original
def prepare(data, *, name, analyzer):
    if 'bug' in name: raise {error}
    return original(data, name=name, analyzer=analyzer)
module.prepare = prepare"""
    assert set(outcomes(jobs, bad_worker(body)).values()) == {"read", "parser_failed" if "odd" in error else "too_deep"}


def test_what_a_parser_prints_goes_nowhere(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, "a.md", "b.md")
    line = bad_worker("print('noise'); os.write(1, b'noise'); sys.stdout.flush()")
    assert set(outcomes(jobs, line).values()) == {"read"}


def test_workers_that_do_not_start_are_an_error_not_a_loop(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        outcomes(jobs_for(tmp_path, "a.md"), [sys.executable, "-c", "raise SystemExit(3)"])
    assert caught.value.code == "workers_failed"


def test_a_known_digest_is_not_prepared(tmp_path: Path) -> None:
    [job] = jobs_for(tmp_path, "a.md")
    with Pool(command(LIMITS, analyzer="bigrams"), size=1, limits=LIMITS) as pool:
        [(_, first)] = pool.run([job])
        assert isinstance(first, Read)
        [(_, second)] = pool.run([Job(job.file, job.name, job.size, (first.sha256,))])
    assert isinstance(second, Read)
    assert second.prepared is None


def test_a_file_that_is_not_there_or_too_large_is_a_failure(tmp_path: Path) -> None:
    jobs = [*jobs_for(tmp_path, "large.md"), Job(str(tmp_path / "gone.md"), "gone.md", 0)]
    limits = Limits(max_bytes=5, seconds=30)
    assert outcomes(jobs, command(limits, analyzer="bigrams"), limits=limits) == {
        "large.md": "too_large",
        "gone.md": "vanished",
    }


def test_a_module_in_the_current_folder_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "pickle.py").write_text("raise SystemExit('hijacked')")
    jobs = jobs_for(tmp_path, "a.md")
    code = (
        f"import sys; sys.path.append({str(ROOT)!r})\n"
        "from ctxcli.services.ingest.pool import Pool, Limits, command\n"
        "from ctxcli.services.ingest.messages import Job\n"
        f"job = Job({jobs[0].file!r}, 'a.md', 10)\n"
        "with Pool(command(Limits(), analyzer='bigrams'), size=1, limits=Limits()) as pool:\n"
        "    print(type(next(pool.run([job]))[1]).__name__)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "Read\n", done.stderr


def test_few_small_files_take_one_worker() -> None:
    assert size_for([Job("a", "a", 1000)] * 10, 8) == 1
    assert size_for([Job("a", "a", 5 << 20)] * 10, 8) == 8
    assert size_for([Job("a", "a", 5 << 20)] * 2, 8) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("busy", ["time.sleep(1000)", "while True: pass"])
def test_workers_end_with_their_parent_even_when_it_is_killed(busy: str, tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, "a.md")
    line = bad_worker(f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n{busy}")
    code = (
        f"import sys; sys.path.append({str(ROOT)!r})\n"
        "from ctxcli.services.ingest.pool import Pool, Limits\n"
        "from ctxcli.services.ingest.messages import Job\n"
        f"with Pool({line!r}, size=1, limits=Limits()) as pool:\n"
        f"    list(pool.run([Job({jobs[0].file!r}, 'a.md', 10)]))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    pid_file = tmp_path / "pid"
    wait_for(lambda: pid_file.exists() and pid_file.read_text() != "")
    child = int(pid_file.read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_for(lambda: not is_alive(child))


def wait_for(condition: object, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
