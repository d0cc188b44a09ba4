"""Which language model is asked, and with which key."""

from pathlib import Path

import pytest

from ctxcli import settings as settings_
from ctxcli.model.errors import ServiceError
from ctxcli.services.models import language_model
from ctxcli.settings import Settings

KEY = "sk-a-key-of-the-user"


def settings(**environ: str) -> Settings:
    return settings_.load(None, environ=environ)


def refusal(chosen: Settings, **environ: str) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        language_model(chosen, environ=environ)
    assert caught.value.hint
    assert KEY not in f"{caught.value.message}{caught.value.hint}"
    return caught.value


def test_no_model_is_told() -> None:
    assert refusal(settings(), OPENAI_API_KEY=KEY).code == "no_model"


def test_a_service_elsewhere_needs_a_key() -> None:
    assert refusal(settings(CTX_MODEL="m")).code == "no_api_key"
    assert refusal(settings(CTX_MODEL="m"), OPENAI_API_KEY=" ").code == "no_api_key"


def test_a_password_in_the_address_stands_for_a_key() -> None:
    chosen = settings(CTX_MODEL="m", OPENAI_BASE_URL="https://user:secret@llm.example/v1")
    assert language_model(chosen, environ={}).name == "m"


def test_a_service_on_this_machine_needs_none() -> None:
    assert language_model(settings(CTX_MODEL="m", OPENAI_BASE_URL="http://localhost:11434/v1"), environ={}).name == "m"


def test_a_named_model_outweighs_the_settings() -> None:
    assert language_model(settings(CTX_MODEL="m"), model="n", environ={"OPENAI_API_KEY": KEY}).name == "n"


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://x/v1", "https://", "http://h:x/v1", "中文", "http://a b/v1", "http://h\n/v1"]
)
def test_what_is_no_address_is_told(url: str) -> None:
    assert refusal(settings(CTX_MODEL="m", OPENAI_BASE_URL=url), OPENAI_API_KEY=KEY).code == "bad_base_url"


def test_a_key_with_a_line_end_in_it_is_told_and_not_shown() -> None:
    assert refusal(settings(CTX_MODEL="m"), OPENAI_API_KEY=f"{KEY}\nx").code == "bad_api_key"
    assert refusal(settings(CTX_MODEL="m"), OPENAI_API_KEY="密钥").code == "bad_api_key"


def test_a_strangers_workspace_neither_names_the_endpoint_nor_turns_the_model_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / ".ctx").mkdir()
    text = '[ask]\nllm = true\n[llm]\nbase_url = "http://evil.example/v1"\n'
    (tmp_path / ".ctx" / "config.toml").write_text(text, "utf-8")
    chosen = settings_.load(tmp_path, environ={})
    assert not chosen.flag("ask.llm")
    assert chosen.text("llm.base_url") == ""
    assert set(chosen.ignored) == {"ask.llm", "llm.base_url"}
