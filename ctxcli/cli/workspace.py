"""`ctx init`, `status`, `doctor`, `config` and `trust`: the workspace itself."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ctxcli.cli import views
from ctxcli.cli.options import AsJson, Quiet, WorkspaceDir
from ctxcli.cli.output import as_mapping, emit, emit_json, emit_line, end, notice, user_errors, warn
from ctxcli.model.errors import ExitCode

if TYPE_CHECKING:
    from ctxcli.settings import Setting

config = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Show and change settings."
)
User = Annotated[bool, typer.Option("--user", help="The user's config, not the workspace's.")]


def init(
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", help="Else the current folder.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Make a folder a workspace. One that is a workspace already stays as it is."""
    with user_errors(as_json=as_json):
        from ctxcli.services import workspace

        root = (folder or directory or Path.cwd()).resolve()
        made = workspace.make(root)
        if as_json:
            emit_json(as_mapping("ctx/workspace/1", workspace=root.as_posix(), made=made))
        else:
            emit_line(str(root))
            notice("is a workspace now" if made else "was a workspace before", quiet=quiet)


def status(as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Show the workspace at a glance: notes, knowledge bases."""
    with user_errors(as_json=as_json):
        from ctxcli.services import diagnosis, workspace

        found = workspace.find(directory)
        _tell_ignored(found.settings.ignored, quiet=quiet)
        emit(diagnosis.status(found), as_json=as_json, view=views.status)


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Remove leftovers of interrupted runs.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Look for what is wrong: the installation, the workspace, its indexes. Exit code 5 where something is."""
    with user_errors(as_json=as_json):
        from ctxcli.services import diagnosis

        found = diagnosis.examine(directory, fix=fix)
        emit(found, as_json=as_json, view=views.diagnosis)
        if not found.ok:
            end(ExitCode.DATA)


def trust(as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Let the config of this workspace name commands, endpoints and places outside of it, as it is now."""
    with user_errors(as_json=as_json):
        from ctxcli import settings
        from ctxcli.services import workspace

        found = workspace.find(directory)
        names = found.settings.ignored
        settings.trust(found.root)
        if as_json:
            emit_json(as_mapping("ctx/trust/1", workspace=found.root.as_posix(), settings=list(names)))
        else:
            emit_line(f"trusted {found.root}" + (f" ({', '.join(names)})" if names else ""))


@config.command("path")
def config_path(
    user: User = False, as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None
) -> None:
    """Print the path of the config file; it need not exist."""
    with user_errors(as_json=as_json):
        path = _config_file(user=user, directory=directory)
        if as_json:
            emit_json(as_mapping("ctx/config-path/1", path=path.as_posix(), exists=path.exists()))
        else:
            emit_line(str(path))


@config.command("list")
def config_list(as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """List all settings with their values and where those come from."""
    with user_errors(as_json=as_json):
        settings = _settings(directory, quiet=quiet)
        if as_json:
            emit_json(as_mapping("ctx/config/1", settings=[_as_json(one) for one in settings.values.values()]))
        else:
            rows = [
                (name, "–" if one.value is None else _as_text(one), one.origin) for name, one in settings.values.items()
            ]
            emit(rows, as_json=False, view=views.settings)


@config.command("get")
def config_get(
    name: Annotated[str, typer.Argument(metavar="KEY")],
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Print the value of a setting."""
    with user_errors(as_json=as_json):
        from ctxcli import settings

        key = settings.key_named(name)
        found = _settings(directory, quiet=quiet).values[key.name]
        if as_json:
            emit_json(as_mapping("ctx/setting/1", **_as_json(found)))
        else:
            emit_line(_as_text(found))


@config.command("set")
def config_set(
    name: Annotated[str, typer.Argument(metavar="KEY")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="A list with commas: a,b.")],
    user: User = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Set a value in the workspace's config, or in the user's. The rest of the file stays as it is."""
    with user_errors(as_json=as_json):
        from ctxcli import settings

        path = _config_file(user=user, directory=directory)
        found = settings.assign(path, name, value) if user else _set_here(path, name, value, quiet=quiet)
        if as_json:
            emit_json(as_mapping("ctx/setting/1", **_as_json(found)))
        else:
            notice(f"{name} = {_as_text(found)} in {path}", quiet=quiet)


def _set_here(path: Path, name: str, value: str, *, quiet: bool) -> "Setting":
    """Set a value in the workspace's config. It holds, unless there is something of another's that does not."""
    from ctxcli import settings

    root = path.parent.parent
    was_trusted = settings.is_trusted(root)
    of_others = [one for one in settings.passed_over(root) if one != name]
    found = settings.assign(path, name, value)
    if was_trusted or (settings.passed_over(root) and not of_others):
        settings.trust(root)
    _tell_ignored(settings.passed_over(root), quiet=quiet)
    return found


def _config_file(*, user: bool, directory: Path | None) -> Path:
    from ctxcli import settings
    from ctxcli.services import workspace

    return settings.user_config() if user else workspace.find(directory).folder / "config.toml"


def _settings(directory: Path | None, *, quiet: bool) -> Any:
    """The settings that hold; outside of a workspace those of the user."""
    from ctxcli import settings
    from ctxcli.model.errors import NotFoundError
    from ctxcli.services import workspace

    try:
        found = workspace.find(directory).settings
    except NotFoundError:
        if directory:
            raise
        found = settings.load(None)
    _tell_ignored(found.ignored, quiet=quiet)
    return found


def _tell_ignored(names: tuple[str, ...], *, quiet: bool) -> None:
    if names:
        warn(f"the workspace sets {', '.join(names)}; this is ignored until you say: ctx trust", quiet=quiet)


def _as_json(setting: "Setting") -> dict[str, Any]:
    value = list(setting.value) if isinstance(setting.value, tuple) else setting.value
    return {"key": setting.key.name, "value": value, "origin": setting.origin, "help": setting.key.help}


def _as_text(setting: "Setting") -> str:
    value = setting.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return "" if value is None else str(value)
