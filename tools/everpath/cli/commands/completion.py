"""`everpath completion`: the script that teaches a shell our commands and options."""

from __future__ import annotations

__all__ = ["completion"]

import click
from click.shell_completion import get_completion_class

from everpath.cli.entry_point import COMPLETION_VARIABLE

_SHELLS = [name for name in ("bash", "zsh", "fish", "powershell") if get_completion_class(name)]


@click.command(short_help="Print the completion script for a shell.")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash        echo 'eval "$(everpath completion bash)"' >> ~/.bashrc
    zsh         echo 'eval "$(everpath completion zsh)"' >> ~/.zshrc
    fish        everpath completion fish > ~/.config/fish/completions/everpath.fish
    powershell  everpath completion powershell >> $PROFILE
    """
    script = get_completion_class(shell)
    assert script is not None  # the argument allows no other
    click.echo(script(ctx.find_root().command, {}, "everpath", COMPLETION_VARIABLE).source())
